#pragma once

#include <string>
#include <vector>

#include "jobman/client/context.hpp"
#include "jobman/client/forward.hpp"
#include "jobman/core/job.hpp"

namespace jobman::client {

/// Forwards of one home folder in the background at a time: each is a process.
inline constexpr std::size_t kMostBackgroundForwards = 64;

/// What is to be forwarded.
struct ForwardRequest {
  core::JobId job = {};
  int host = 0;
  std::vector<ForwardedPort> ports = {};
};

/// A forward in the background, as its record in StatePaths::ForwardsDir() has it. The process that
/// forwards writes the record when it listens, and holds a lock of it until it ends.
struct BackgroundForward {
  std::string id = {};       ///< of the record; random
  std::string process = {};  ///< controller::LeaseHolder() of its process
  ForwardRequest request = {};
  std::string job_name = {};
  base::TimePoint since = {};
  bool here = true;  ///< its process is one of this machine, and of this container
};
/// Its process id, where it runs.
std::int64_t PidOf(const BackgroundForward& forward);
/// What it says of its connections: at most 16 MiB, and one file before.
base::Path LogOf(const base::StatePaths& paths, const BackgroundForward& forward);

/// One whose process has ended, and why.
struct EndedForward {
  BackgroundForward forward = {};
  std::string why = {};
};
struct SeenForwards {
  std::vector<BackgroundForward> running = {};  ///< the oldest first
  std::vector<EndedForward> ended = {};         ///< their records were removed
};
/// Reads the records, and removes those, with their logs, whose process has ended. A record that
/// cannot be read is passed over while somebody holds its lock, else removed.
base::Result<SeenForwards> LookAtForwards(const base::StatePaths& paths);

/// Starts a process that forwards in the background, and waits until it listens and has logged in,
/// for kForwardStartLimit at most. Its errors are those of Forwarding::Listen() and Check();
/// kResourceExhausted when kMostBackgroundForwards run already, kCancelled at an interrupt: then
/// the process is gone.
base::Result<BackgroundForward> StartForward(const Context& context, const ForwardRequest& request);
/// What that process does: forwards until SIGTERM, or until the job is over for good, which its
/// record then says. `id` is that of the record. Errors go into the record, too.
base::Status ServeForward(const Context& context, ForwardRequest request, const std::string& id);

/// Of `forwards` those that a word names: "all"; a local port, "6006" or as it is listed,
/// "127.0.0.1:6006"; else the number or name of a job. kNotFound if none does, but for "all";
/// kInvalidArgument for a number that is the port of one and the job of another.
base::Result<std::vector<BackgroundForward>> ForwardsNamed(
    const std::vector<BackgroundForward>& forwards, const std::string& word);
/// Ends its process with SIGTERM, and with SIGKILL if that takes longer than kForwardStopLimit, and
/// removes the record. Only a process that was started when the record says, and holds its lock:
/// others are left alone, and if it has ended before, all is well. kFailedPrecondition if it runs
/// elsewhere, kDeadlineExceeded if it does not end, kCancelled at an interrupt.
base::Status StopForward(const Context& context, const BackgroundForward& forward);

}  // namespace jobman::client
