#pragma once

#include <string>
#include <vector>

#include "jobman/client/context.hpp"
#include "jobman/config/load.hpp"

namespace jobman::client {

/// What Compute Engine means for a job that is to be created.
struct ComputeVerdict {
  /// The project has its hosts ask for OS Login, under which they do not take the job's key, and
  /// the job file does not say otherwise: the slice must get enable-oslogin: FALSE.
  bool turn_os_login_off = false;
  bool answered = true;                 ///< false: it did not, as the one note says
  std::vector<std::string> notes = {};  ///< what the user should know, a sentence each
};

/// Whether the job's login name is not the one that everybody gets.
bool UserIsChosen(const config::Loaded& loaded);

/// Refuses a job whose tpu.metadata ask for OS Login, unless the user chose `ssh.user`: then the
/// job's key may be that of a login. Asks nobody.
base::Status CheckOsLoginWish(const config::Loaded& loaded);

/// Checks before a job is created what its project has in Compute Engine. A region whose limit of
/// external addresses the slices would exceed even if no other used any is an error (kQuotaZero:
/// waiting does not help) at the place of tpu.accelerator; one that has too few free now is a note.
/// See LookAtProject() for how long answers are kept. If Compute Engine does not answer that is a
/// note, and nothing if these credentials may not ask it. Nothing is asked for a node of the user's
/// (tpu.existing), or of a cloud without Compute Engine, such as the simulator. An endpoint that
/// cannot be used (JOBMAN_COMPUTE_ENDPOINT) is kInvalidArgument.
base::Task<base::Result<ComputeVerdict>> CheckCompute(Context context, config::Loaded loaded);

/// What CheckCompute() would have to say of OS Login, for a preview: what it kept, or else a note
/// that it asks. Sends nothing.
base::Task<ComputeVerdict> PreviewCompute(Context context, config::Loaded loaded);

}  // namespace jobman::client
