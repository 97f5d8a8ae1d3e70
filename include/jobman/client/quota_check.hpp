#pragma once

#include <string>

#include "jobman/client/context.hpp"
#include "jobman/config/load.hpp"

namespace jobman::client {

/// What the project's quota of TPUs means for a job that is to be created.
struct QuotaVerdict {
  std::string note = {};  ///< what the user should know; may be empty
  bool answered = true;   ///< false: Service Usage did not, as the note says
};

/// Checks before a job is created that its slices fit into what the project may hold of their type
/// and pricing in their zone. A limit that they exceed even if no other held any of it is an error
/// (kQuotaZero: waiting does not help) at the place of tpu.accelerator, with what would fit; one of
/// which others hold too much now is a note that names them. Limits are kept for a day, and asked
/// for again before anything is said against the job; if nobody answers then, one that is too small
/// is a note. A limit that is not told says nothing, nor
/// is anything said if these credentials may not ask; that nobody answers is a note. Nothing is
/// asked for a node of the user's (tpu.existing), for a type that is not known here, or of a cloud
/// without Service Usage, such as the simulator. An endpoint that cannot be used
/// (JOBMAN_QUOTA_ENDPOINT) is kInvalidArgument.
base::Task<base::Result<QuotaVerdict>> CheckTpuQuota(Context context, config::Loaded loaded);

/// Whether both jobs take the same of the same quota.
bool AsksForSameQuota(const core::JobSpec& one, const core::JobSpec& other);

}  // namespace jobman::client
