#pragma once

#include <vector>

#include "cli/app.hpp"

namespace jobman::cli {

struct FollowOptions {
  bool logs = true;            ///< the hosts' output on stdout
  bool ask_to_cancel = false;  ///< on Ctrl-C ask whether to cancel the job; otherwise detach
  int first_attempt = 1;       ///< output of earlier ones is left out
};

/// Follows a job to its end: its states on stderr, its hosts' output on stdout, then the table of
/// exit codes. Returns the job's exit code: 0, the command's, or the one for its error. If
/// interrupted, the job goes on; returns kInterrupted.
base::Result<int> FollowJob(App& app, const client::Context& context, core::JobId id,
                            const FollowOptions& options);
/// The same for several jobs: their output is interleaved, each line with the job's name, and the
/// tables come when all are over, or at an interrupt, for those that are. Returns the largest exit
/// code.
base::Result<int> FollowJobs(App& app, const client::Context& context,
                             const std::vector<core::JobId>& ids, const FollowOptions& options);

/// Of several jobs that are over: names on stderr those that did not succeed, whose own lines may
/// have scrolled away. Nothing if all did, or of one job.
void SayWhichFailed(App& app, const client::Context& context, const std::vector<core::Job>& jobs);
/// Whether any host was ever given work: a request that was refused leaves no logs.
base::Result<bool> WorkWasBegun(const client::Context& context, core::JobId id);
/// Prints what to do next about jobs that are over, if one of them did not succeed: as FollowJobs()
/// does, and only as text.
base::Status ShowNextIfAnyFailed(App& app, const client::Context& context,
                                 const std::vector<core::Job>& jobs);

/// The exit code that a finished job gives to the command that waited for it.
int ExitCodeOfJob(const core::Job& job);

}  // namespace jobman::cli
