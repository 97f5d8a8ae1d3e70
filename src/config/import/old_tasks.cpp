#include <algorithm>
#include <utility>
#include <variant>

#include "config/diagnostics.hpp"
#include "config/value.hpp"
#include "config/yaml_reader.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/config/load.hpp"
#include "jobman/config/old_state.hpp"

namespace jobman::config {
namespace {

constexpr std::int64_t kMostRuns = 1'000'000;
/// As of a queue file, with its history.
constexpr Limits kStateLimits = {.bytes = std::size_t{16} << 20,
                                 .values = 1'000'000,
                                 .keys = 10'000,
                                 .text = "16 MiB, the limit for a state file"};

std::string TextAt(const Value& map, std::string_view key) {
  const Value* value = map.Find(key);
  return value != nullptr && value->is_scalar() ? value->text : std::string();
}

int CountAt(const Value& map, std::string_view key) {
  const auto count = base::ParseNumber(TextAt(map, key));
  return static_cast<int>(std::min(count.value_or(0), kMostRuns));
}

/// A flag, or a number above 0: how `priority` is written is not known exactly.
bool IsSet(const Value& map, std::string_view key) {
  return IsTrueText(TextAt(map, key)) || CountAt(map, key) > 0;
}

OldTask TaskOf(const Value& entry) {
  OldTask task{.id = entry.key,
               .done = IsSet(entry, "done"),
               .runs = CountAt(entry, "run_count"),
               .failures = CountAt(entry, "fail_count"),
               .prioritized = IsSet(entry, "priority")};
  if (const Value* running = entry.Find("running"); running != nullptr && running->is_list()) {
    for (const Value& one : running->children) task.running.push_back(TextAt(one, "job_id"));
  }
  const Value* history = entry.Find("history");
  if (history != nullptr && history->is_list() && !history->children.empty()) {
    task.last = TextAt(history->children.back(), "status");
  }
  return task;
}

core::TaskStanding StandingOf(const OldTask& old, core::TimePoint now) {
  if (!old.done) return core::TaskOpen{};
  // There, a task that has used up its retries is recorded as done, too.
  if (old.last == "failed" && old.runs > 0) return core::TaskParked{.at = now};
  return core::TaskDone{.at = now, .by_user = old.runs == 0};
}

}  // namespace

core::Task ContinueOldTask(const OldTask& old, core::TaskDefinition definition, core::QueueId queue,
                           core::TimePoint now) {
  core::Task task{.queue = queue, .definition = std::move(definition)};
  task.standing = StandingOf(old, now);
  task.prioritized = old.prioritized && !old.done;
  task.runs = old.runs;
  const int least = std::holds_alternative<core::TaskParked>(task.standing) ? 1 : 0;
  task.failures = std::clamp(old.failures, least, std::max(old.runs, least));
  task.since = now;
  task.why = old.running.empty() ? "imported from Python jobman"
                                 : "imported from Python jobman, which had not ended its last run";
  const bool unfinished = !old.running.empty() && task.failures < task.runs;
  task.interruptions = unfinished ? 1 : 0;
  return task;
}

base::Result<OldTasks> ReadOldTasks(std::string_view text) {
  Diagnostics out;
  const int source = out.AddSource({.name = "the state of the queue"}, text);
  const auto root = ReadYaml(text, source, 0, out, kStateLimits);
  if (const auto problems = out.Take(); !problems.empty()) return ToError(problems);
  const Value* tasks = root && root->is_map() ? root->Find("tasks") : nullptr;
  if (tasks == nullptr || !(tasks->is_map() || tasks->is_null())) {
    return base::InvalidArgument("the state of the queue has no map \"tasks\"");
  }
  OldTasks found;
  for (const Value& entry : tasks->children) {
    if (entry.is_map()) {
      found.tasks.push_back(TaskOf(entry));
    } else {
      found.unclear.push_back("task \"" + base::Shorten(entry.key, 40) + "\": it is no map");
    }
  }
  return found;
}

}  // namespace jobman::config
