#include "jobman/client/exec_order.hpp"

#include <algorithm>
#include <filesystem>

#include "jobman/base/env.hpp"
#include "jobman/base/shell.hpp"
#include "jobman/controller/command_environment.hpp"
#include "jobman/core/late_names.hpp"
#include "jobman/remote/direct_command.hpp"

namespace jobman::client {
namespace {

bool IsAssignment(const std::string& word) {
  const std::size_t sign = word.find('=');
  return sign != std::string::npos && base::IsEnvName(std::string_view(word).substr(0, sign));
}

/// Of the folder that this process is in.
std::string Counterpart() {
  std::error_code none;
  const base::Path here = std::filesystem::current_path(none);
  if (none) return "~";
  const base::Path below = here.lexically_relative(base::RealPath(base::HomeDir()));
  if (below.empty() || *below.begin() == "..") return here.string();
  return below == "." ? "~" : "~/" + below.string();
}

std::optional<std::string> SecretHere(const core::SecretRef& secret) {
  if (!secret.file.empty()) return controller::SecretInFile(secret.file);
  return base::GetEnv(secret.name);
}

base::Result<std::string> PrepareAsJob(const Context& context, const core::Job& job,
                                       const remote::DirectCommand& direct,
                                       std::vector<ssh::FanOutHost>& hosts) {
  JM_ASSIGN_OR_RETURN(const std::string store_id, context.Await(context.stores.jobs->StoreId()));
  const std::string folder = context.paths.JobDir(job.id.value).string();
  std::string command;
  for (ssh::FanOutHost& host : hosts) {
    auto around = controller::EnvironmentOn(job, host.host, store_id, folder, SecretHere);
    if (!around.ok()) {
      base::Error error = std::move(around).error();
      error.hint = "export it here, or name a file in the job: secrets: [{name: NAME, file: PATH}]";
      return error;
    }
    JM_ASSIGN_OR_RETURN(remote::DirectCall call,
                        remote::CallInEnvironment(direct, job.spec, *around));
    host.input = std::move(call.input);
    command = std::move(call.command);
  }
  return command;
}

}  // namespace

std::string CommandLine(const std::vector<std::string>& words) {
  if (words.size() == 1) return words.front();
  const std::string line = base::ShellJoin(words);
  // Not every login shell knows assignments before a command.
  return !words.empty() && IsAssignment(words.front()) ? "env " + line : line;
}

std::string JobFolder(const base::StatePaths& paths, const core::Job& job) {
  const core::JobSpec bound = core::BindLateNames(job, paths.JobDir(job.id.value));
  const std::string folder = controller::CommandFolder(bound);
  return folder.empty() ? Counterpart() : folder;
}

base::Result<std::string> Prepare(const Context& context, const core::Job& job,
                                  const ExecOrder& order, std::vector<ssh::FanOutHost>& hosts) {
  remote::DirectCommand direct{.line = CommandLine(order.words),
                               .clean_libtpu = order.clean_libtpu};
  const bool jobs_folder = order.workdir && order.workdir->empty();
  if (order.workdir) direct.workdir = *order.workdir;
  if (jobs_folder && !order.job_env) direct.workdir = JobFolder(context.paths, job);
  if (!order.job_env) return remote::DirectLine(direct);
  return PrepareAsJob(context, job, direct, hosts);
}

}  // namespace jobman::client
