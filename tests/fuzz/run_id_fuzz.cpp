// Ids of runs found on a host: what parses is what jobman wrote, byte for byte.
#include <cstddef>
#include <cstdint>

#include "jobman/core/run_id.hpp"
#include "jobman/remote/host_script.hpp"
#include "tests/fuzz/expect.hpp"

using namespace jobman;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text = fuzz::Text(data, size);
  const auto run = core::ParseRunId(text);
  if (!run) return 0;
  fuzz::Expect(core::FormatRunId(*run) == text, "it is written as it was read");
  fuzz::Expect(text.starts_with(core::RunIdPrefix(run->on)), "its prefix is the job's");
  return 0;
}
