// A queue file: what is taken of it is sound whatever the rest says, and taking it again changes
// nothing.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "jobman/base/strings.hpp"
#include "jobman/config/queue_file.hpp"
#include "jobman/core/spec_json.hpp"
#include "jobman/core/task_list.hpp"
#include "tests/fuzz/expect.hpp"

using namespace jobman;

namespace {

config::QueueFileResult Read(const std::string& text) {
  config::QueueFileRequest request{.file = "/nowhere/tasks.yaml", .text = text};
  request.defaults.env = [](const std::string&) { return std::nullopt; };
  return config::ReadQueueFile(request);
}

/// The id names a folder of logs here, the working folder one below the home folder of the hosts.
void ExpectSafe(const core::TaskDefinition& task) {
  const std::string& id = task.id;
  fuzz::Expect(!id.empty() && id.size() <= 100 && id.front() != '.' && id.front() != '-',
               "an id that names a folder: " + id);
  fuzz::Expect(id.find_first_of("/\n\\") == std::string::npos, "an id without slash: " + id);
  const std::string& folder = task.workdir;
  fuzz::Expect(!folder.starts_with('/') && !folder.starts_with('~') && !folder.starts_with('-'),
               "a folder below home: " + folder);
  for (const std::string& part : base::Split(folder, '/')) {
    fuzz::Expect(folder.empty() || (!part.empty() && part != "." && part != ".."),
                 "a folder with a name: " + folder);
  }
}

void ExpectSound(const core::TaskDefinition& task) {
  ExpectSafe(task);
  fuzz::Expect(!task.run.empty() && task.max_jobs >= 1 && task.max_retries >= 0, "it can be run");
  fuzz::Expect(task.url.empty() == task.repo.empty(), "a repository has a URL");
  const auto again = core::TaskDefinitionFromJson(core::TaskDefinitionToJson(task));
  fuzz::Expect(again.ok() && *again == task, "it is stored as it is: " + task.id);
}

void ExpectTakenOnce(const core::TaskList& list) {
  const core::QueueId queue{.value = 1};
  const core::TimePoint now = {};
  core::TaskBoard board;
  auto records = core::SyncTasks(list, board, queue, now);
  fuzz::Expect(records.size() == list.tasks.size(), "each id once");
  for (core::Task& task : records) {
    fuzz::Expect(!core::FlawOf(task).has_value(), "a sound record");
    board.Put(std::move(task));
  }
  fuzz::Expect(core::SyncTasks(list, board, queue, now).empty(), "the same file changes nothing");
  fuzz::Expect(core::FindCycles(list.tasks).empty(), "no task waits for itself");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text = fuzz::Text(data, size);
  const auto read = Read(text);
  fuzz::Expect(read.list.has_value() || !read.problems.empty(), "a list, or problems");
  for (const auto& problem : read.problems) config::RenderProblem(problem);
  for (const auto& warning : read.warnings) config::RenderWarning(warning);
  if (!read.list) return 0;
  fuzz::Expect(read.list->refused.empty() == read.problems.empty(), "a reason for each refusal");
  for (const core::RefusedTask& refused : read.list->refused) {
    fuzz::Expect(!refused.why.empty() && refused.why.find('\n') == std::string::npos, "one line");
  }
  for (const core::TaskDefinition& task : read.list->tasks) ExpectSound(task);
  ExpectTakenOnce(*read.list);
  const auto again = Read(text);
  fuzz::Expect(again.list == read.list, "the same text is the same list");
  return 0;
}
