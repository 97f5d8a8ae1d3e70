#pragma once

#include <asio/any_io_executor.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "controller/host_access.hpp"

namespace jobman::controller {

/// What a stage is told and asks while it runs. None of them may destroy the stage's runner.
struct StageHooks {
  std::function<void(core::HostReport)> report;
  /// The watch over the output has seen something: core::Silence or core::BadOutput.
  std::function<void(core::Observation)> observed;
  /// A connection failed: the cloud may know more.
  std::function<void()> trouble;
  /// Whether the cloud answered lately: without it nobody can tell a dead host from a dead net.
  std::function<bool()> cloud_answers;
  /// Whether the slice was usable when it was last seen.
  std::function<bool()> slice_ready;
  /// A secret's value, or nothing.
  std::function<std::optional<std::string>(const core::SecretRef&)> secret;
};

/// What the parts of a StageRunner share.
struct StageContext {
  asio::any_io_executor executor;
  const Ports& ports;
  const Options& options;
  HostAccess& access;
  /// As of the stage's start; it has slice and stage.
  std::shared_ptr<const core::Job> job;
  StageHooks hooks;

  bool IsCommand() const { return core::IsCommand(job->stage->id); }
  core::TimePoint Now() const { return ports.clock->Now(); }
  /// Where the log of a host is kept here.
  base::Path LogPath(int host) const {
    return options.paths.LogPath(job->id.value, job->attempt, job->stage->name, host);
  }
};

}  // namespace jobman::controller
