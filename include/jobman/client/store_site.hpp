#pragma once

#include <string>
#include <vector>

#include "jobman/client/context.hpp"

namespace jobman::client {

/// Whether the store is where its record says; a new store records it. kFailedPrecondition with
/// reason kCopiedStore, and the cure, when it was moved or copied since. `record`: whether the
/// record may be written.
base::Task<base::Status> CheckSite(Context context, bool record);

/// What `jobman store adopt` did.
struct Adopted {
  std::string store_id = {};
  core::Site site = {};
  bool was_known = false;              ///< it was here already
  std::vector<core::JobId> left = {};  ///< jobs that the original keeps
};
/// The store was moved: it may be used here from now on, with its jobs.
base::Task<base::Result<Adopted>> AdoptStore(Context context);
/// The store is a copy: it gets an id of its own, and its jobs that are not over are left to the
/// original. kFailedPrecondition when it is no copy, as far as can be told, and has such jobs.
base::Task<base::Result<Adopted>> AdoptCopy(Context context);

}  // namespace jobman::client
