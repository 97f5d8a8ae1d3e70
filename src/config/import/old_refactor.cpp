#include "config/import/old_refactor.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "jobman/base/json.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/config/submit.hpp"

namespace jobman::config {
namespace {

using base::GetString;
using base::Json;
using base::Path;
using base::Result;

/// An empty object if there is no such file.
Result<Json> ReadObject(const Path& file) {
  std::error_code problem;
  if (!std::filesystem::exists(file, problem)) return Json::object();
  JM_ASSIGN_OR_RETURN(const std::string text, base::ReadRegularFile(file));
  auto json = base::ParseJson(text);
  if (!json.ok()) return base::InvalidArgument(file.string() + ": " + json.error().message);
  if (!json->is_object()) return base::InvalidArgument(file.string() + " is no JSON object");
  return json;
}

/// Clamped, it would be the number of another process; 0: there is none.
std::int64_t ProcessOf(const Json& entry) {
  return GetString(entry, "status") == "running" ? base::GetInt(entry, "pid") : 0;
}

int CountOf(const Json& entry, const char* key, int otherwise = 0) {
  const auto found = entry.find(key);
  if (found == entry.end() || !found->is_number_integer()) return otherwise;
  const auto number = found->get<std::int64_t>();
  return static_cast<int>(std::clamp<std::int64_t>(number, 0, 1'000'000));
}

/// The words of pricing there, as `worker start` takes them.
std::string PricingOf(const std::string& word) {
  return word == "standard" ? "ondemand" : word;
}

/// A startup script may be gone; the worker is taken over without it, and `unclear` says so.
std::optional<std::string> StartupOf(const std::string& file, const std::string& worker,
                                     std::vector<std::string>& unclear) {
  if (file.empty()) return std::nullopt;
  auto text = base::ReadRegularFile(file, kLongestTaskScript);
  if (text.ok()) return *std::move(text);
  unclear.push_back("worker " + worker +
                    ": its startup script is left out: " + text.error().message);
  return std::nullopt;
}

OldEntry WorkerEntry(const std::string& name, const Json& entry, const Path& logs,
                     std::vector<std::string>& unclear) {
  OldEntry worker{.name = name, .logs = logs / "workers" / base::SafeFileName(name)};
  worker.node = GetString(entry, "tpu_name");
  if (worker.node.empty()) worker.node = name;
  worker.sessions = {"jobman_" + name, name};
  worker.process = ProcessOf(entry);
  worker.worker =
      WorkerOptions{.name = name,
                    .accelerator = GetString(entry, "accelerator"),
                    .zone = GetString(entry, "zone"),
                    .pricing = PricingOf(GetString(entry, "pricing")),
                    .allocation_mode = GetString(entry, "mode"),
                    .startup = StartupOf(GetString(entry, "startup_script"), name, unclear)};
  return worker;
}

core::TaskStanding StandingOf(const std::string& status, core::TimePoint now) {
  if (status == "done") return core::TaskDone{.at = now};
  if (status == "failed") return core::TaskParked{.at = now};
  return core::TaskOpen{};
}

OldSubmitted SubmittedTask(const std::string& id, const Json& entry, const Path& logs,
                           core::TimePoint now) {
  OldSubmitted found;
  core::Task& task = found.task;
  Path script = GetString(entry, "script");
  std::error_code problem;
  // The folder may have been moved since.
  if (!std::filesystem::exists(script, problem)) script = logs / "tasks" / id / script.filename();
  SubmitOptions options{.accelerator = GetString(entry, "accelerator"),
                        .zone = GetString(entry, "zone"),
                        .name = id,
                        .max_retries = std::to_string(CountOf(entry, "max_retries", 3))};
  const Submission read = ReadTaskScript({.file = script, .options = std::move(options)});
  task.definition.id = id;
  if (read.tasks.empty()) {
    found.unclear = read.problems.empty() ? "its script cannot be read"
                                          : base::Shorten(read.problems.front().message, 120);
    return found;
  }
  task.definition = read.tasks.front();
  const std::string status = GetString(entry, "status");
  task.standing = StandingOf(status, now);
  task.paused = status == "paused";
  const bool parked = status == "failed";  // so it has failed at least once
  task.runs = std::max(CountOf(entry, "run_count"), parked ? 1 : 0);
  task.failures = std::clamp(CountOf(entry, "fail_count"), parked ? 1 : 0, task.runs);
  task.interruptions = status == "running" ? std::min(1, task.runs - task.failures) : 0;
  task.since = now;
  task.why = "imported from Python jobman, where it was " + (status.empty() ? "?" : status);
  return found;
}

}  // namespace

Result<OldFolder> ReadRefactor(const Path& dir, core::TimePoint now) {
  OldFolder found{.generation = "refactor"};
  const Path logs = dir / "logs";
  found.task_logs = logs / "tasks";
  JM_ASSIGN_OR_RETURN(const Json workers, ReadObject(dir / "workers.json"));
  for (const auto& [name, entry] : workers.items()) {
    if (entry.is_object() && !name.empty()) {  // without one, it would not be known again
      found.entries.push_back(WorkerEntry(name, entry, logs, found.unclear));
    } else {
      found.unclear.push_back("workers.json: \"" + base::Shorten(name, 40) + "\" is no worker");
    }
  }
  JM_ASSIGN_OR_RETURN(const Json tasks, ReadObject(dir / "queue.json"));
  std::vector<std::pair<std::string, OldSubmitted>> by_time;
  for (const auto& [id, entry] : tasks.items()) {
    if (entry.is_object() && !id.empty()) {
      by_time.emplace_back(GetString(entry, "submitted"), SubmittedTask(id, entry, logs, now));
    } else {
      found.unclear.push_back("queue.json: \"" + base::Shorten(id, 40) + "\" is no task");
    }
  }
  std::stable_sort(by_time.begin(), by_time.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (auto& [time, task] : by_time) found.tasks.push_back(std::move(task));
  return found;
}

}  // namespace jobman::config
