#include "jobman/controller/command_environment.hpp"

#include "controller/run_order.hpp"
#include "jobman/base/files.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/core/late_names.hpp"

namespace jobman::controller {

std::optional<std::string> SecretInFile(const std::string& file) {
  const auto content = base::ReadRegularFile(base::ExpandHome(file), 2 * core::kLongestVariable);
  if (!content.ok()) return {};
  return std::string(base::Trim(*content));
}

std::string CommandFolder(const core::JobSpec& spec) {
  const bool inside = spec.env_type == core::EnvType::kDocker;
  return inside || spec.command.workdir.empty() ? spec.code.path : spec.command.workdir;
}

base::Result<remote::CommandEnvironment> EnvironmentOn(const core::Job& job, int host,
                                                       const std::string& store_id,
                                                       const std::string& job_dir,
                                                       const SecretReader& secret) {
  const core::JobSpec bound = core::BindLateNames(job, job_dir);
  const core::RunId run{.on = core::OnHost(store_id, job, host),
                        .what = core::CommandRun{.attempt = job.attempt}};
  remote::RunOrder order;
  AddVariables(job, bound, run, host, order);
  JM_TRY(AddWork(job, bound, run.on, secret, order));
  return remote::CommandEnvironment{.workdir = CommandFolder(bound),
                                    .env = std::move(order.env),
                                    .secrets = std::move(order.secrets)};
}

}  // namespace jobman::controller
