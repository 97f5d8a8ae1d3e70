#include "jobman/remote/direct_command.hpp"

#include <fmt/format.h>

#include "jobman/base/shell.hpp"

namespace jobman::remote {
namespace {

/// The folder as a word of any shell. "./" keeps CDPATH, "-" and what looks like an option away.
std::string FolderWord(const std::string& folder) {
  if (folder == "~") return folder;
  if (folder.starts_with("~/")) return "~/" + base::ShellQuote(folder.substr(2));
  return base::ShellQuote(folder.starts_with('/') ? folder : "./" + folder);
}

// As podrun's -c, but without sudo where that is not needed, and it takes no input of the
// command's.
constexpr const char* kClean =
    "sh -c 'exec </dev/null; rm -rf /tmp/libtpu_lockfile /tmp/tpu_logs 2>/dev/null || "
    "sudo -n rm -rf /tmp/libtpu_lockfile /tmp/tpu_logs'; ";

}  // namespace

std::string DirectLine(const DirectCommand& command) {
  std::string line;
  if (!command.workdir.empty())
    line += fmt::format("cd {} || exit 126; ", FolderWord(command.workdir));
  if (command.clean_libtpu) line += kClean;
  return line + command.line;
}

}  // namespace jobman::remote
