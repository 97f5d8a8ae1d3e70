// What Python jobman left on disk: the text may be damaged anywhere. What is read of it goes on as
// a sound record.
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>

#include "jobman/config/old_state.hpp"
#include "tests/fuzz/expect.hpp"

using namespace jobman;

namespace {

void ExpectJobs(const std::string& text) {
  const auto jobs = config::ReadOldJobs(text);
  if (!jobs.ok()) return;
  std::int64_t last = 0;
  for (const config::OldJob& job : jobs->jobs) {
    fuzz::Expect(job.id > last, "each id once, in their order");
    last = job.id;
  }
}

void ExpectTasks(const std::string& text) {
  const auto tasks = config::ReadOldTasks(text);
  if (!tasks.ok()) return;
  std::set<std::string> ids;
  for (const config::OldTask& old : tasks->tasks) {
    fuzz::Expect(ids.insert(old.id).second, "each id once");
    fuzz::Expect(old.runs >= 0 && old.failures >= 0, "counts");
    const core::Task task =
        config::ContinueOldTask(old, {.id = "a", .accelerator = "v4-8"}, {.value = 1}, {});
    fuzz::Expect(!core::FlawOf(task).has_value(), "a sound record");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text = fuzz::Text(data, size);
  ExpectJobs(text);
  ExpectTasks(text);
  return 0;
}
