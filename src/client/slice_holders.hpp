#pragma once

#include <string>
#include <vector>

#include "jobman/client/context.hpp"
#include "jobman/core/job.hpp"

namespace jobman::client {

/// A job whose record cannot be read here: a newer jobman wrote it, or it is damaged.
struct UnreadJob {
  core::JobId id = {};
  std::string name = {};
  base::Error error = {};
};

/// The jobs whose slices may have nodes, or get them, by number.
struct SliceHolders {
  std::vector<core::Job> jobs = {};        ///< each with a slice
  std::vector<UnreadJob> unreadable = {};  ///< they may hold one
};
/// An error of the store is returned; only that of a single record is not.
base::Task<base::Result<SliceHolders>> JobsWithSlices(Context context);

}  // namespace jobman::client
