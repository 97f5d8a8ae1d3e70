#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "jobman/client/context.hpp"
#include "jobman/client/log_files.hpp"
#include "jobman/client/log_folder.hpp"
#include "jobman/client/timed_log.hpp"
#include "jobman/client/times.hpp"

namespace jobman::client {

/// Follows a job's logs as they grow, across stages and attempts, until the job is final and
/// everything is read. Used by `logs -f`, `run` and `create --follow`, for several jobs by
/// FollowLogs().
///
/// One file is open at a time, for as long as it is read. At one look a host's log is read for
/// kMostAtOnce bytes at most: one that writes without end keeps nobody waiting for the others.
class LogFollower {
 public:
  static constexpr std::int64_t kMostAtOnce = std::int64_t{1} << 20;

  struct Options {
    int first_attempt = 1;
    /// Skip the stages of the first attempt that run before this one; empty: skip none.
    std::string first_stage = {};
    std::optional<std::string> only_stage = {};
    std::optional<int> only_attempt = {};
    core::HostSet hosts = {};
    /// Where to begin in a file that is there at the beginning; empty: where it begins.
    std::function<std::int64_t(const base::Path& path)> begin_at = {};
    bool timed = false;  ///< pieces say when they came
  };
  /// Takes output of `host` in `stage`; false stops reading.
  using Take = std::function<bool(const LogStage& stage, int host, const LogPiece& piece)>;

  LogFollower(Context context, core::JobId job, Options options);

  /// Looks at the job and its log files once, and passes on what is new. Cheap enough for ten calls
  /// a second with a thousand hosts.
  base::Task<base::Status> Poll(Take take);
  /// Whether there is no more to come.
  bool done() const { return done_; }
  /// Whether the last Poll() left something unread: the next one should come at once.
  bool behind() const { return behind_; }
  /// The job as last read; id 0 before the first Poll().
  const core::Job& job() const { return job_; }

 private:
  base::Task<base::Status> LookAtJob();
  bool Wants(const LogStage& stage) const;
  LogFolder& LogsOf(const LogStage& stage, bool sure);
  base::Result<bool> ReadStage(const LogStage& stage, const Take& take, bool sure);
  base::Status ReadSome(const LogStage& stage, LogPlace& log, const Take& take);

  Context context_;
  core::JobId id_;
  Options options_;
  core::Job job_ = {};
  std::optional<std::int64_t> seen_change_ = {};
  base::TimePoint read_again_ = {};                ///< not before
  std::map<std::string, LogFolder> folders_ = {};  ///< by path
  bool began_ = false;  ///< the files that were there at the beginning are known
  bool behind_ = false;
  bool erased_ = false;
  bool done_ = false;
};

/// A job that is followed.
struct Followed {
  LogFollower* follower = nullptr;
  LogFollower::Take take = {};
  std::function<void()> looked = {};  ///< called after each poll; may be empty
};
/// Polls the jobs in turn until there is no more to come of any, and keeps a controller running
/// meanwhile. False if the user interrupted; it may be called again.
base::Result<bool> FollowLogs(const Context& context, const std::vector<Followed>& jobs,
                              base::Duration poll_every = kLookAtJobs);

}  // namespace jobman::client
