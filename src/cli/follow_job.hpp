#pragma once

#include "cli/app.hpp"

namespace jobman::cli {

struct FollowOptions {
  bool logs = true;            ///< the hosts' output on stdout
  bool ask_to_cancel = false;  ///< on Ctrl-C ask whether to cancel; otherwise detach at once
};

/// Shows a job's way to its end: its states on stderr, its hosts' output on stdout, then the table
/// of exit codes. Gives back the job's exit code: 0, the command's, or what its error maps to.
/// Interrupted: the job goes on, kInterrupted.
base::Result<int> FollowJob(App& app, const client::Context& context, core::JobId id,
                            const FollowOptions& options);

/// The exit code a finished job gives to the command that waited for it.
int ExitCodeOfJob(const core::Job& job);

}  // namespace jobman::cli
