#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "jobman/client/context.hpp"
#include "jobman/client/probes.hpp"

namespace jobman::client {

enum class Verdict { kOk, kWarning, kFailed, kSkipped };
/// "ok", "warning", "failed", "skipped".
std::string_view VerdictName(Verdict verdict);

/// What one check has found.
struct Finding {
  std::string check = {};  ///< what was looked at: "credentials"
  Verdict result = Verdict::kOk;
  std::string found = {};                   ///< one sentence
  std::string cure = {};                    ///< a command, a key or a link; empty if all is well
  std::optional<base::Error> failure = {};  ///< of kFailed: for the exit code
};

/// What is to be looked at.
struct Examination {
  core::JobSpec spec = {};          ///< of the job file, or of a job that says nothing itself
  bool has_job = false;             ///< it is of a job file, so its size is known
  bool zone_known = true;           ///< spec.tpu.zone is one that somebody named
  std::string project_from = {};    ///< "job.yaml:3", "GOOGLE_CLOUD_PROJECT"
  bool own_user = false;            ///< somebody named ssh.user
  base::Status store = base::Ok();  ///< why the context has no stores
};

/// Looks at all that jobman needs here, everything at once, and changes nothing. `tell` gets each
/// finding, in one order, as soon as it and those before it are there. No check takes longer than
/// kCheckLimit, and one that waits first, for the credentials or for the name of a VM, longer than
/// twice that. If the examination says why, the context may be without stores.
base::Task<std::vector<Finding>> Diagnose(Context context, Probes probes, Examination about,
                                          std::function<void(const Finding&)> tell);

}  // namespace jobman::client
