#include "client/exec_command.hpp"

#include <utility>

#include "jobman/base/env.hpp"
#include "jobman/controller/command_environment.hpp"

namespace jobman::client {
namespace {

std::optional<std::string> SecretHere(const core::SecretRef& secret) {
  if (!secret.file.empty()) return controller::SecretInFile(secret.file);
  return base::GetEnv(secret.name);
}

}  // namespace

base::Result<remote::CommandEnvironment> ExecCommand::Around(int host) const {
  if (!job_env) return remote::CommandEnvironment{.workdir = direct.workdir};
  const auto known = [this](const core::SecretRef& secret) {
    const auto found = secrets.find(secret.name);
    return found == secrets.end() ? std::nullopt : found->second;
  };
  auto around = controller::EnvironmentOn(job, host, store_id, job_dir, known);
  if (!around.ok()) {
    base::Error error = std::move(around).error();
    error.hint = "export it here, or name a file in the job: secrets: [{name: NAME, file: PATH}]";
    return error;
  }
  if (!direct.workdir.empty()) around->workdir = direct.workdir;
  return around;
}

base::Result<remote::DirectCall> ExecCommand::CallOn(int host) const {
  JM_ASSIGN_OR_RETURN(const remote::CommandEnvironment around, Around(host));
  return remote::CallInEnvironment(direct, job.spec, around);
}

base::Result<ExecCommandPtr> MakeExecCommand(const Context& context, const core::Job& job,
                                             const ExecOrder& order) {
  const auto command = std::make_shared<ExecCommand>();
  command->job = job;
  command->direct = {.line = CommandLine(order.words), .clean_libtpu = order.clean_libtpu};
  if (order.workdir) {
    command->direct.workdir =
        order.workdir->empty() ? JobFolder(context.paths, job) : *order.workdir;
  }
  command->job_env = order.job_env;
  if (!order.job_env) return ExecCommandPtr(command);
  JM_ASSIGN_OR_RETURN(command->store_id, context.Await(context.stores.jobs->StoreId()));
  command->job_dir = context.paths.JobDir(job.id.value).string();
  for (const core::SecretRef& secret : job.spec.command.secrets)
    command->secrets[secret.name] = SecretHere(secret);
  return ExecCommandPtr(command);
}

}  // namespace jobman::client
