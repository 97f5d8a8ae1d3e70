#pragma once

#include <asio/any_io_executor.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "controller/host_access.hpp"
#include "controller/run_order.hpp"
#include "jobman/base/waiters.hpp"
#include "jobman/controller/file_relay.hpp"

namespace jobman::controller {

/// Callbacks of a running stage. None of them may destroy the stage's runner.
struct StageHooks {
  std::function<void(core::HostReport)> report;
  /// The output watch has seen core::Silence, core::BadOutput or core::TaskOutput.
  std::function<void(core::Observation)> observed;
  /// A connection failed: look at the cloud now.
  std::function<void()> trouble;
  /// Whether the cloud answered lately. If not, a dead host cannot be told from a dead network.
  std::function<bool()> cloud_answers;
  /// Whether the slice was usable when it was last seen.
  std::function<bool()> slice_ready;
  SecretReader secret;
};

/// What the parts of a StageRunner share.
struct StageContext {
  asio::any_io_executor executor;
  const Ports& ports;
  const Options& options;
  HostAccess& access;
  /// As of the stage's start; has a slice and a stage.
  std::shared_ptr<const core::Job> job;
  StageHooks hooks;
  std::shared_ptr<base::Gate> transfers;  ///< of all stages: files that are being sent to hosts
  /// Of the code, among hosts that may log in to each other.
  std::shared_ptr<FileRelay> relay = std::make_shared<FileRelay>();
  KeyDigest keys = {};  ///< as of this runner's start: its runs keep their ids
  StepRuns steps = {};  ///< of these keys
  /// No earlier runner or controller can have started anything of the stage.
  bool begins_here = false;

  /// The stage is no setup step.
  bool Computes() const { return !core::IsSetup(job->stage->id); }
  core::TimePoint Now() const { return ports.clock->Now(); }
  /// The local copy of a host's log. That of a task is in the task's folder: it outlives the job.
  base::Path LogPath(int host) const {
    if (const auto* const task = std::get_if<core::TaskStage>(&job->stage->id)) {
      return options.paths.TaskLogPath(job->stage->task->queue.value, task->task,
                                       {.number = task->run, .job = job->id.value}, host);
    }
    return options.paths.LogPath(job->id.value, job->attempt, job->stage->name, host);
  }
};

}  // namespace jobman::controller
