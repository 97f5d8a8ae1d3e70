#pragma once

#include "jobman/base/files.hpp"
#include "jobman/core/site.hpp"

namespace jobman::store {

/// Where the store in the folder `dir` is now: its file, and this machine. What cannot be found out
/// stays empty.
core::Site LookAtSite(const base::Path& dir);

/// The same with the system's files below `root`, for tests.
core::Site LookAtSite(const base::Path& dir, const base::Path& root);

}  // namespace jobman::store
