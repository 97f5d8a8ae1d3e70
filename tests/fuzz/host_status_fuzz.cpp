// What a host may print around and instead of the host script's status.
#include <cstddef>
#include <cstdint>

#include "jobman/remote/host_script.hpp"
#include "tests/fuzz/expect.hpp"

using namespace jobman;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text = fuzz::Text(data, size);
  if (const auto status = remote::ParseStatus(text); status.ok()) {
    fuzz::Expect(status->exit_code >= 0 && status->exit_code <= 255, "an exit code is a byte");
  }
  const auto after = remote::ParseStatus(text + "\njobman: exited 3\n");
  fuzz::Expect(after.ok() && after->exit_code == 3, "the last status counts");
  for (const std::string& id : remote::ParseRunningRuns(text)) {
    fuzz::Expect(remote::IsRunId(id), "an id is safe as a word of a shell");
  }
  remote::ParseNotice(text);
  return 0;
}
