#include <algorithm>
#include <memory>
#include <utility>

#include "jobman/client/host_target.hpp"
#include "jobman/client/ssh_config.hpp"
#include "jobman/client/vouching.hpp"
#include "jobman/controller/ssh_aliases.hpp"
#include "jobman/controller/times.hpp"
#include "jobman/core/ssh_way.hpp"

namespace jobman::client {
namespace {

base::Task<base::Status> FindVmNames(Context context, core::Job job,
                                     std::shared_ptr<core::SshJob> hosts) {
  Vouching vouching(std::move(context));
  for (core::SshHost& host : hosts->hosts) {
    std::string name = co_await vouching.NameOf(job, core::PositionOf(*job.slice, host.number));
    host.vm_name = std::move(name);
  }
  co_return base::Ok();
}

/// A cloud that does not answer costs its own job's names alone.
base::Task<base::Status> FindKeysAndNames(Context context, core::Job job,
                                          std::shared_ptr<core::SshJob> hosts) {
  JM_CO_TRY(co_await controller::FindPinnedKeys(context.stores.host_keys, hosts, /*all=*/true));
  if (!core::NamesVm(hosts->proxy_command)) co_return base::Ok();
  auto names = FindVmNames(std::move(context), std::move(job), hosts);
  std::string what = "asking for the names of VMs";
  // What is missing then, the text says.
  (void)co_await base::WithTimeout(std::move(names), controller::kNameVmsLimit, std::move(what));
  co_return base::Ok();
}

}  // namespace

base::Task<base::Result<HostNames>> FindHostNames(Context context,
                                                  std::optional<core::JobId> only) {
  if (only) {
    JM_CO_ASSIGN_OR_RETURN(const core::Job job, co_await context.stores.jobs->Get(*only));
    JM_CO_TRY(TargetOf(context.paths, job, 0));
  }
  HostNames found;
  JM_CO_ASSIGN_OR_RETURN(const auto jobs, co_await controller::JobsWithHosts(context.stores.jobs));
  for (const core::Job& job : jobs) {
    auto made = controller::SshJobOf(job, SshPort(context.paths, job.spec.cloud));
    if (!made) continue;
    const auto hosts = std::make_shared<core::SshJob>(*std::move(made));
    const bool wanted = !only || *only == job.id;
    if (wanted) JM_CO_TRY(co_await FindKeysAndNames(context, job, hosts));
    found.jobs.push_back(*hosts);
  }
  found.config =
      controller::SshConfigOf(context.paths, controller::WithKeysOnDisk(found.jobs), only);
  if (only) std::erase_if(found.jobs, [&](const core::SshJob& job) { return job.id != *only; });
  co_return found;
}

}  // namespace jobman::client
