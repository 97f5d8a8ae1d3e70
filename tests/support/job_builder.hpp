#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "jobman/core/job.hpp"

namespace jobman::test {

/// A job right after `create`: number 42, "train", an on-demand v4-32 in us-central2-b through a
/// queued resource, without setup steps.
class JobBuilder {
 public:
  explicit JobBuilder(std::string name = "train") {
    job_.id = core::JobId{42};
    job_.name = name;
    job_.user = "ada";
    job_.spec.name = std::move(name);
    job_.spec.tpu.accelerator = "v4-32";
    job_.spec.tpu.project = "research";
    job_.spec.tpu.zone = "us-central2-b";
    job_.spec.tpu.version = "tpu-ubuntu2204-base";
    job_.spec.command.cmd = "python3 train.py";
  }

  JobBuilder& Id(std::int64_t id) {
    job_.id = core::JobId{id};
    return *this;
  }
  JobBuilder& Direct() {
    job_.spec.tpu.allocation_mode = core::AllocationMode::kTpuVm;
    return *this;
  }
  JobBuilder& Slices(int count) {
    job_.spec.tpu.num_slices = count;
    return *this;
  }
  JobBuilder& With(core::SetupStep step) {
    job_.spec.setup.push_back(std::move(step));
    return *this;
  }
  JobBuilder& Step(std::string name) {
    return With(core::SetupStep{.name = std::move(name), .run = "true"});
  }
  JobBuilder& Workers(std::vector<int> hosts) {
    job_.spec.command.workers = {.all = false, .numbers = std::move(hosts)};
    return *this;
  }
  JobBuilder& Retries(core::RetrySpec retries) {
    job_.spec.retries = retries;
    return *this;
  }
  /// It works off a queue; `idle`: its job.queue.idle.
  JobBuilder& Worker(std::optional<core::Duration> idle = {}) {
    job_.spec.queue = core::QueueSpec{.enabled = true, .config = "/lab/tasks.yaml", .idle = idle};
    job_.spec.command.cmd.clear();
    return *this;
  }
  core::Job Build() const { return job_; }

 private:
  core::Job job_ = {};
};

}  // namespace jobman::test
