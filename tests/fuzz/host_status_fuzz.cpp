// What a host may print around and instead of the host script's status.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "jobman/remote/host_script.hpp"
#include "tests/fuzz/expect.hpp"

using namespace jobman;

namespace {

void ExpectSane(const remote::RunStatus& status) {
  fuzz::Expect(status.exit_code >= 0 && status.exit_code <= 255, "an exit code is a byte");
  const bool gap = status.kind == remote::RunStatus::Kind::kGap;
  fuzz::Expect(!gap || (status.gap.begin >= 0 && status.gap.begin < status.gap.end),
               "a gap is a part of a file");
}

void TryFinalStatus(const std::string& text) {
  const auto status = remote::FinalStatus(text);
  if (status) ExpectSane(*status);
  fuzz::Expect(status == remote::FinalStatus(text.substr(0, text.rfind('\n') + 1)),
               "an incomplete line says nothing");
  const auto after = remote::FinalStatus(text + "\njobman: exited 3\njobman: alive\n");
  fuzz::Expect(after && after->exit_code == 3, "the last status counts");
  fuzz::Expect(!remote::FinalStatus(text + "\njobman: running\n"), "more is to come");
}

void TryAges(const std::string& text) {
  constexpr std::chrono::hours kCentury{100 * 366 * 24};
  const auto runs = remote::ParseAges(text + "\nj.x-a 12 exited 3\n");
  for (const remote::RunAge& run : runs) {
    fuzz::Expect(remote::IsRunId(run.run_id), "an id is safe as a word of a shell");
    fuzz::Expect(run.age >= base::Duration{0} && run.age <= kCentury, "an age is a time of a run");
    ExpectSane(run.status);
  }
  const remote::RunAge ours{.run_id = "j.x-a",
                            .age = std::chrono::seconds{12},
                            .status = {.kind = remote::RunStatus::Kind::kExited, .exit_code = 3}};
  fuzz::Expect(!runs.empty() && runs.back() == ours, "what the script wrote is read");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text = fuzz::Text(data, size);
  if (const auto status = remote::ParseStatus(text); status.ok()) ExpectSane(*status);
  const auto after = remote::ParseStatus(text + "\njobman: exited 3\n");
  fuzz::Expect(after.ok() && after->exit_code == 3, "the last status counts");
  for (const std::string& id : remote::ParseRunningRuns(text)) {
    fuzz::Expect(remote::IsRunId(id), "an id is safe as a word of a shell");
  }
  remote::ParseNotice(text);
  TryFinalStatus(text);
  TryAges(text);
  return 0;
}
