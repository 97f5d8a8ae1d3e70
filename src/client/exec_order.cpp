#include "jobman/client/exec_order.hpp"

#include <filesystem>
#include <functional>
#include <utility>

#include "client/exec_command.hpp"
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

/// It names every host of the slice: a thousand such texts are not kept, but made as they are sent.
/// One that cannot be made ends its command, which misses the end of its input.
std::function<std::string()> InputOn(ExecCommandPtr command, int host) {
  return [command = std::move(command), host] {
    auto call = command->CallOn(host);
    return call.ok() ? std::move(call->input) : std::string("\n");
  };
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
  JM_ASSIGN_OR_RETURN(const ExecCommandPtr command, MakeExecCommand(context, job, order));
  if (!command->job_env) return remote::DirectLine(command->direct);
  std::string line;
  for (ssh::FanOutHost& host : hosts) {
    JM_ASSIGN_OR_RETURN(remote::DirectCall call, command->CallOn(host.host));
    line = std::move(call.command);  // the same for all
    host.input = InputOn(command, host.host);
  }
  return line;
}

base::Result<remote::TerminalCall> PrepareOnTerminal(const Context& context, const core::Job& job,
                                                     const ExecOrder& order, int host) {
  JM_ASSIGN_OR_RETURN(const ExecCommandPtr command, MakeExecCommand(context, job, order));
  JM_ASSIGN_OR_RETURN(const auto around, command->Around(host));
  return remote::CallOnTerminal(command->direct, job.spec, around);
}

}  // namespace jobman::client
