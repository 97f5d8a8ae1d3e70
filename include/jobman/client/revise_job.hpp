#pragma once

#include <optional>
#include <string>
#include <vector>

#include "jobman/client/create_jobs.hpp"

namespace jobman::client {

/// A changed job file for a stored job.
struct RevisionOrder {
  core::JobId job = {};
  config::Loaded loaded = {};
  /// kRun, kReboot or kRequeue; nothing: it waits for the next attempt.
  std::optional<core::Wish> wish = {};
  /// Takes the code anew, even if the file names the same folder or commit.
  bool take_code = false;
  /// How a command line says the same change, for an error's cure: "-f FILE". Empty: the user has
  /// written one, and can repeat it.
  std::string options = {};
};
/// What became of it.
struct Revised {
  core::Job job = {};                   ///< as it was before
  std::vector<std::string> notes = {};  ///< for the user
};

/// Whether the job has a slice that it would have to give up for this spec: only requeue does.
bool NeedsAnotherSlice(const core::Job& job, core::JobSpec spec);

/// Checks the file as `create` does, stores it, and sets the wish; wakes the controller. The job
/// keeps its name and that of its slices. kFailedPrecondition, and nothing is stored, if the job
/// has a slice that the file cannot use, unless the wish gives that up.
base::Task<base::Result<Revised>> ReviseJob(Context context, RevisionOrder order);

}  // namespace jobman::client
