#pragma once

#include <string>
#include <utility>

#include "jobman/core/task.hpp"

namespace jobman::test {

/// A task of queue 7 that was never run, for workers as JobBuilder makes them; it runs on host 0.
inline core::Task SampleTask(std::string id = "lr1") {
  core::Task task{.queue = core::QueueId{7}};
  task.definition.id = std::move(id);
  task.definition.accelerator = "v4-32";
  task.definition.zone = "us-central2-b";
  task.definition.run = "python3 train.py";
  return task;
}

}  // namespace jobman::test
