#pragma once

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
inline core::TaskWorker MakeWorker(int job) {
  return {.job = core::JobId{job}, .attempt = 1, .accelerator = "v4-8", .zone = kTaskZone};
}

inline core::TimePoint TaskTime(int seconds) {
  return core::TimePoint{std::chrono::hours{24 * 365}} + std::chrono::seconds{seconds};
}

}  // namespace jobman::test
