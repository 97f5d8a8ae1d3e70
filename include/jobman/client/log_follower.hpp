#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "jobman/client/context.hpp"
#include "jobman/client/log_files.hpp"
#include "jobman/client/times.hpp"

namespace jobman::client {

/// Follows a job's logs as they grow, across stages and attempts, until the job is final and
/// everything is read. Used by `logs -f`, `run` and `create --follow`.
class LogFollower {
 public:
  struct Options {
    int first_attempt = 1;
    /// Skip the stages of the first attempt that run before this one; empty: skip none.
    std::string first_stage = {};
    std::optional<std::string> only_stage = {};
    std::optional<int> only_attempt = {};
    core::HostSet hosts = {};
    /// Of the files that are there at the beginning, only this many last lines; nothing: all.
    std::optional<std::int64_t> tail = {};
    base::Duration poll_every = kLookAtJobs;
  };
  /// Takes output of `host` in `stage`; false stops reading.
  using Take = std::function<bool(const LogStage& stage, int host, std::string_view bytes)>;

  LogFollower(Context context, core::JobId job, Options options);

  /// Polls until there is no more to come, and keeps a controller running meanwhile. `on_look` (may
  /// be empty) is called with the job after each poll. False if the user interrupted; it may be
  /// called again.
  base::Result<bool> Follow(const Take& take,
                            const std::function<void(const core::Job& job)>& on_look);
  /// Reads the job and its log files once, and passes on what is new. Cheap enough for ten calls a
  /// second with a thousand hosts.
  base::Task<base::Status> Poll(Take take);
  /// Whether there is no more to come.
  bool done() const { return done_; }
  /// The job as last read; id 0 before the first Poll().
  const core::Job& job() const { return job_; }

 private:
  base::Task<base::Status> LookAtJob();
  bool Wants(const LogStage& stage) const;
  std::int64_t& OffsetOf(const base::Path& path);
  base::Result<bool> ReadStage(const LogStage& stage, const Take& take);

  Context context_;
  core::JobId id_;
  Options options_;
  core::Job job_ = {};
  std::optional<std::int64_t> seen_change_ = {};
  std::map<std::string, std::int64_t> offsets_ = {};  ///< by path
  base::TimePoint saw_controller_;
  bool began_ = false;  ///< the files that were there at the beginning are known
  bool done_ = false;
};

}  // namespace jobman::client
