#pragma once

#include "jobman/base/result.hpp"
#include "jobman/base/state_paths.hpp"
#include "jobman/core/job.hpp"

namespace jobman::controller {

// The folder of a job, with its logs, is named by its number. An older copy of the store that is
// put back gives numbers again that it gave before, and the folders of those jobs may still be
// there. So a folder says in the file `job` whose it is.

/// Whether the folder is the job's own. One that does not say whose it is was made by an older
/// jobman, and is. So is one that does not exist.
bool IsOwnFolder(const base::StatePaths& paths, const core::Job& job);

/// Makes the folder the job's own: another job's is moved aside, to "000042.1" beside it.
base::Status TakeFolder(const base::StatePaths& paths, const core::Job& job);
/// The same for a job that is new: whatever is there is another's.
base::Status TakeNewFolder(const base::StatePaths& paths, const core::Job& job);

}  // namespace jobman::controller
