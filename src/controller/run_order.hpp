#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "jobman/controller/command_environment.hpp"
#include "jobman/core/run_id.hpp"
#include "jobman/remote/host_script.hpp"

namespace jobman::controller {

/// A digest of the files that go to the hosts with ssh.identities, as they are on this machine now.
/// Nothing while one of them cannot be read, or if the job's stage depends on none.
using KeyDigest = std::optional<std::string>;
KeyDigest DigestKeys(const core::Job& job, const SecretReader& secret);

/// The runs of all setup steps, in their order, without the host: each is a digest of a whole
/// script, so they are made once for the hosts of a stage. Where they are not given, they are made
/// anew.
using StepRuns = std::shared_ptr<const std::vector<core::SetupRun>>;
StepRuns StepRunsOf(const core::Job& job, const KeyDigest& keys);

/// The run of the job's current stage, which is no task, on host number `host`. A setup step keeps
/// its id in later attempts, so that it runs again only after a reboot (see remote::RenewCall), or
/// if `keys` are others.
core::RunId RunOn(const core::Job& job, const std::string& store_id, int host,
                  const KeyDigest& keys, const StepRuns& steps = {});
/// The run id of the command in this attempt; also used to find runs of earlier attempts.
std::string CommandRunOn(const core::Job& job, const std::string& store_id, int host);

/// The id of the run of the job's current stage, whatever it is, on that host.
std::string StageRunOn(const core::Job& job, const std::string& store_id, int host,
                       const KeyDigest& keys, const StepRuns& steps = {});
/// An id with a number at its end: runs with the same text and a smaller number may be left on that
/// host, and must be ended before another run computes there. Those are commands of earlier
/// attempts; of a worker, earlier runs of tasks.
std::string OlderRunsOn(const core::Job& job, const std::string& store_id, int host);

/// The archive of the job's code: its name and that of earlier ones on the hosts.
std::string CodeFileOf(const core::Job& job, const std::string& store_id, int host);

/// What an order takes from this machine.
struct OrderSources {
  std::string store_id = {};
  std::string job_dir = {};  ///< the job's folder here
  SecretReader secret = {};
  KeyDigest keys = {};
  StepRuns steps = {};  ///< of these keys
};
/// The variables of every run of the job on that host: JOBMAN_* and job.environment.
void AddVariables(const core::Job& job, const core::JobSpec& bound, const core::RunId& run,
                  int host, remote::RunOrder& order);
/// What every run of the job on that host has, whatever it runs: id, limits, agent, JOBMAN_* and
/// job.environment, and the setup that must have been done. `bound` is the job's spec with late
/// names.
remote::RunOrder BareOrder(const core::Job& job, const core::JobSpec& bound, const core::RunId& run,
                           int host, const OrderSources& here);
/// Makes it a run that computes: it needs the chips, is told of notices, and has the variables and
/// secrets of the section command. kFailedPrecondition when a secret has no value.
base::Status AddWork(const core::Job& job, const core::JobSpec& bound, const core::JobOnHost& on,
                     const SecretReader& secret, remote::RunOrder& order);
/// What to run there. kFailedPrecondition when a secret has no value.
base::Result<remote::RunOrder> OrderFor(const core::Job& job, int host, const OrderSources& here);

}  // namespace jobman::controller
