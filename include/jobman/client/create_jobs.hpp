#pragma once

#include <optional>
#include <string>
#include <vector>

#include "jobman/client/code.hpp"
#include "jobman/client/context.hpp"
#include "jobman/client/os_login.hpp"
#include "jobman/config/load.hpp"

namespace jobman::client {

/// A new job, as it is stored.
core::Job NewJob(core::JobSpec spec, base::TimePoint now);

/// A job file that passed the checks before its job is stored.
struct CheckedFile {
  config::Loaded loaded = {};
  std::optional<TakenCode> code = {};   ///< if it names any; the spec says what was taken
  std::vector<std::string> notes = {};  ///< what the user should know, a sentence each
  bool cloud_is_slow = false;           ///< it took too long to ask it for the next file, too
  /// What its node (tpu.existing) answered; nothing if it did not, or nobody asked it.
  std::optional<NodesLogin> node_login = {};
};
/// What the cloud is asked before a job is stored.
enum class Preflight {
  kAll,
  kHeldSlice,  ///< the job has its slice: not what only a request for one needs
  kNone,
};
/// Refuses what can be refused before a job is stored: a key that cannot be used (a missing one is
/// generated), an offer that the zone does not have, see CheckOffer(), a reservation that there
/// is not or that is too small, see CheckReservation(), more TPUs than the project may hold, see
/// CheckTpuQuota(), buckets in another region, see CheckBuckets(), and more addresses than the
/// project may use, see CheckCompute(). Turns OS Login
/// off in `tpu.metadata` if the project asks for it. Takes the code, unless the spec has a snapshot
/// already. Without a sandbox, simulated hosts are our own processes and only our user can log in:
/// changes `ssh.user`. `earlier`, if any, must outlive the coroutine: a file that names the same
/// code gets what was taken for it, the same reservation or quota is not asked for again, nor a
/// cloud that was slow then: of a hundred files each would wait for it. `present`, if any, is what
/// the job has that the file revises, and must outlive the coroutine: if its node (tpu.existing)
/// cannot be asked now, the job goes on to log in as it does.
base::Task<base::Result<CheckedFile>> CheckFile(Context context, config::Loaded loaded,
                                                const CheckedFile* earlier = nullptr,
                                                Preflight preflight = Preflight::kAll,
                                                const core::JobSpec* present = nullptr);
/// The same for a new job: notes that another has its name, or uses its node (tpu.existing).
base::Task<base::Result<CheckedFile>> CheckBeforeCreate(Context context, config::Loaded loaded,
                                                        const CheckedFile* earlier = nullptr,
                                                        Preflight preflight = Preflight::kAll);

/// The jobs that CreateJobs() would store now, with the numbers they would get unless the last job
/// was cleaned. Stores and sends nothing.
struct PreviewedJobs {
  std::vector<core::Job> jobs = {};
  std::string store_id = {};
  std::vector<std::string> notes = {};  ///< what the cloud would be asked, each once
};
base::Task<base::Result<PreviewedJobs>> PreviewJobs(Context context,
                                                    std::vector<config::Loaded> files,
                                                    Preflight preflight = Preflight::kAll);

/// Stores a job for each file, with its code, and wakes the controller, which is sent the secrets
/// that this process has. Returns the jobs with their numbers. If one cannot be stored, those
/// before it are cancelled.
base::Task<base::Result<std::vector<core::Job>>> CreateJobs(Context context,
                                                            std::vector<CheckedFile> files);

}  // namespace jobman::client
