#pragma once

#include "jobman/config/old_folder.hpp"

namespace jobman::config {

/// The state of the branch refactor of Python jobman: workers.json maps the name of each worker to
/// what it is, queue.json the id of each task to what it is and how it stands.
base::Result<OldFolder> ReadRefactor(const base::Path& dir, core::TimePoint now);

}  // namespace jobman::config
