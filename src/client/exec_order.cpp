#include "jobman/client/exec_order.hpp"

#include <algorithm>
#include <filesystem>

#include "jobman/base/shell.hpp"
#include "jobman/controller/command_environment.hpp"
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

}  // namespace

std::string CommandLine(const std::vector<std::string>& words) {
  if (words.size() == 1) return words.front();
  const std::string line = base::ShellJoin(words);
  // Not every login shell knows assignments before a command.
  return !words.empty() && IsAssignment(words.front()) ? "env " + line : line;
}

std::string JobFolder(const core::Job& job) {
  const std::string folder = controller::CommandFolder(job.spec);
  return folder.empty() ? Counterpart() : folder;
}

std::string LineFor(const core::Job& job, const ExecOrder& order) {
  remote::DirectCommand direct{.line = CommandLine(order.words),
                               .clean_libtpu = order.clean_libtpu};
  if (order.workdir) direct.workdir = order.workdir->empty() ? JobFolder(job) : *order.workdir;
  return remote::DirectLine(direct);
}

}  // namespace jobman::client
