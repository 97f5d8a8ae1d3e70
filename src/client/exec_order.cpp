#include "jobman/client/exec_order.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <utility>

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

/// A command as the job's own would run, with what all hosts have in common.
struct JobsCommand {
  core::Job job = {};
  remote::DirectCommand direct = {};
  std::string store_id = {};
  std::string job_dir = {};
  std::map<std::string, std::optional<std::string>> secrets = {};

  base::Result<remote::DirectCall> On(int host) const {
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
    return remote::CallInEnvironment(direct, job.spec, *around);
  }
};

/// It names every host of the slice: a thousand such texts are not kept, but made as they are sent.
/// One that cannot be made ends its command, which misses the end of its input.
std::function<std::string()> InputOn(std::shared_ptr<const JobsCommand> command, int host) {
  return [command = std::move(command), host] {
    auto call = command->On(host);
    return call.ok() ? std::move(call->input) : std::string("\n");
  };
}

base::Result<std::string> PrepareAsJob(const Context& context, const core::Job& job,
                                       const remote::DirectCommand& direct,
                                       std::vector<ssh::FanOutHost>& hosts) {
  auto command = std::make_shared<JobsCommand>();
  command->job = job;
  command->direct = direct;
  JM_ASSIGN_OR_RETURN(command->store_id, context.Await(context.stores.jobs->StoreId()));
  command->job_dir = context.paths.JobDir(job.id.value).string();
  for (const core::SecretRef& secret : job.spec.command.secrets)
    command->secrets[secret.name] = SecretHere(secret);
  std::string line;
  for (ssh::FanOutHost& host : hosts) {
    JM_ASSIGN_OR_RETURN(remote::DirectCall call, command->On(host.host));
    line = std::move(call.command);  // the same for all
    host.input = InputOn(command, host.host);
  }
  return line;
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

base::Result<remote::TerminalCall> PrepareOnTerminal(const Context& context, const core::Job& job,
                                                     const ExecOrder& order, int host) {
  const remote::DirectCommand direct{.line = CommandLine(order.words),
                                     .workdir = order.workdir.value_or(""),
                                     .clean_libtpu = order.clean_libtpu};
  JM_ASSIGN_OR_RETURN(const std::string store_id, context.Await(context.stores.jobs->StoreId()));
  JM_ASSIGN_OR_RETURN(
      const auto around,
      controller::EnvironmentOn(job, host, store_id, context.paths.JobDir(job.id.value).string(),
                                SecretHere));
  return remote::CallOnTerminal(direct, job.spec, around);
}

base::Result<std::string> Prepare(const Context& context, const core::Job& job,
                                  const ExecOrder& order, std::vector<ssh::FanOutHost>& hosts) {
  remote::DirectCommand direct{.line = CommandLine(order.words),
                               .clean_libtpu = order.clean_libtpu};
  if (order.workdir)
    direct.workdir = order.workdir->empty() ? JobFolder(context.paths, job) : *order.workdir;
  if (!order.job_env) return remote::DirectLine(direct);
  return PrepareAsJob(context, job, direct, hosts);
}

}  // namespace jobman::client
