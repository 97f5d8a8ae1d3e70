#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "jobman/core/task_board.hpp"

namespace jobman::test {

inline constexpr const char* kTaskZone = "us-central2-b";

/// A task of v4-8 in kTaskZone.
inline core::Task MakeTask(std::string id, int order = 0, std::vector<std::string> needs = {}) {
  core::Task task{.order = order};
  task.definition = {.id = std::move(id),
                     .accelerator = "v4-8",
                     .zone = kTaskZone,
                     .run = "true",
                     .depends_on = std::move(needs)};
  return task;
}

/// A worker that takes it.
inline core::TaskWorker MakeWorker(std::int64_t job) {
  return {.job = core::JobId{job}, .attempt = 1, .accelerator = "v4-8", .zone = kTaskZone};
}

inline core::TimePoint TaskTime(int seconds) {
  return core::TimePoint{std::chrono::hours{24 * 365}} + std::chrono::seconds{seconds};
}

/// A task that runs on two workers: every member but queue and version differs from its default.
inline core::Task BusyTask(std::string id) {
  core::Task task = MakeTask(std::move(id), 3, {"first", "second"});
  task.definition.run = "python train.py \"$1\"\n";
  task.definition.env = "jax";
  task.definition.repo = "model";
  task.definition.url = "https://example.com/model.git";
  task.definition.branch = "main";
  task.definition.workdir = "work/model";
  task.definition.workers = {.all = false, .numbers = {0, 2}};
  task.definition.max_jobs = 2;
  task.definition.max_retries = 5;
  task.definition.hide = true;
  task.listed = false;
  task.paused = true;
  task.prioritized = true;
  task.standing = core::TaskDone{.at = TaskTime(50), .by_user = true};
  task.claims = {{.job = core::JobId{7}, .attempt = 2, .run = 8, .since = TaskTime(60)},
                 {.job = core::JobId{9}, .attempt = 1, .run = 9, .since = TaskTime(70)}};
  task.runs = 9;
  task.failures = 1;
  task.interruptions = 4;
  task.streak = 2;
  task.not_before = TaskTime(90) + std::chrono::milliseconds{7};
  task.since = TaskTime(70);
  task.why = "run 9 on job 000009 began";
  return task;
}

}  // namespace jobman::test
