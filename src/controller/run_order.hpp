#pragma once

#include <functional>
#include <optional>
#include <string>

#include "jobman/remote/host_script.hpp"

namespace jobman::controller {

/// The run of the job's current stage on host number `host`. A setup step keeps its id in later
/// attempts, so that it runs again only after a reboot: see remote::RenewCall.
core::RunId RunOn(const core::Job& job, const std::string& store_id, int host);
/// The run id of the command in this attempt; also used to find runs of earlier attempts.
std::string CommandRunOn(const core::Job& job, const std::string& store_id, int host);

/// The archive of the job's code: its name and that of earlier ones on the hosts.
std::string CodeFileOf(const core::Job& job, const std::string& store_id, int host);

/// What an order takes from this machine.
struct OrderSources {
  std::string store_id = {};
  std::string job_dir = {};  ///< the job's folder here
  std::function<std::optional<std::string>(const core::SecretRef&)> secret = {};
};
/// What to run there. kFailedPrecondition when a secret has no value.
base::Result<remote::RunOrder> OrderFor(const core::Job& job, int host, const OrderSources& here);

}  // namespace jobman::controller
