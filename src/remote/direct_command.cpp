#include "jobman/remote/direct_command.hpp"

#include <fmt/format.h>

#include "jobman/base/shell.hpp"
#include "jobman/base/strings.hpp"
#include "remote/export_lines.hpp"
#include "remote/setup_calls.hpp"

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

/// The same for our own shell, when HOME may already be the job's.
std::string FolderUnderHome(const std::string& folder) {
  if (folder.starts_with('/')) return base::ShellQuote(folder);
  if (folder.empty() || folder == "~") return "\"$jm_home\"";
  return "\"$jm_home\"/" + base::ShellQuote(folder.starts_with("~/") ? folder.substr(2) : folder);
}

/// What the shell does before the command. It reads what is for it line by line, so that the rest
/// of stdin is the command's. One line without "!", so that it is the same word in every login
/// shell.
constexpr const char* kPrepare =
    "jm_line=$(printf \"\\nx\"); jm_break=${jm_line%x}; jm_text=; jm_home=$HOME; "
    "while IFS= read -r jm_line; do "
    "case $jm_line in .) break;; esac; jm_text=$jm_text${jm_line#:}$jm_break; done; "
    "case $jm_line in .) ;; *) echo \"jobman: the command arrived incomplete\" >&2; exit 126;; "
    "esac; "
    "exec 3<&0 </dev/null; [ -r /etc/profile ] && . /etc/profile; "
    "for jm_line in ${BASH_VERSION:+.bash_profile .bash_login} .profile; do "
    "[ -r \"$HOME/$jm_line\" ] && { . \"$HOME/$jm_line\"; break; }; done; "
    "exec <&3 3<&-; unset jm_line jm_break; eval \"$jm_text\"";

/// Each line has a mark before it, so that no text ends them early.
std::string MarkedLines(const std::string& text) {
  return ":" + base::ReplaceAll(text, "\n", "\n:") + "\n.\n";
}

/// "#!" at the beginning is for the file of a run, which this has not: the shell reads the line.
std::string InItsEnvironment(const core::JobSpec& spec, const std::string& line) {
  switch (spec.env_type.value_or(core::EnvType::kNone)) {
    case core::EnvType::kNone:
    case core::EnvType::kDocker:
      return line;
    case core::EnvType::kConda:
      return InConda(spec.conda, "\n" + line);
    case core::EnvType::kVenv:
      return InVenv(spec.venv, "\n" + line);
  }
  return line;
}

}  // namespace

base::Result<DirectCall> CallInEnvironment(const DirectCommand& command, const core::JobSpec& spec,
                                           const CommandEnvironment& around) {
  JM_ASSIGN_OR_RETURN(std::string text, ExportLines(around.env, around.secrets));
  const std::string& folder = command.workdir.empty() ? around.workdir : command.workdir;
  text +=
      fmt::format("CDPATH= cd {} || exit 126\nunset jm_text jm_home\n", FolderUnderHome(folder));
  if (command.clean_libtpu) text += std::string(kClean) + "\n";
  text += InItsEnvironment(spec, command.line);
  return DirectCall{
      .command =
          fmt::format("exec sh -c '{}' {}",
                      "jm_shell=$(command -v bash || command -v sh); exec \"$jm_shell\" -c \"$0\"",
                      base::ShellQuote(kPrepare)),
      .input = MarkedLines(text)};
}

std::string DetachedScript(const DirectCommand& command, const core::JobSpec* spec) {
  std::string line = command.clean_libtpu ? kClean : "";
  // Else one that begins with #! would be taken for a program.
  line = " " + line + "\n";
  return line + (spec == nullptr ? command.line : InItsEnvironment(*spec, command.line));
}

std::string DirectLine(const DirectCommand& command) {
  std::string line;
  if (!command.workdir.empty())
    line += fmt::format("cd {} || exit 126; ", FolderWord(command.workdir));
  if (command.clean_libtpu) line += kClean;
  return line + command.line;
}

base::Result<TerminalCall> CallOnTerminal(const DirectCommand& command, const core::JobSpec& spec,
                                          const CommandEnvironment& around) {
  JM_ASSIGN_OR_RETURN(DirectCall call, CallInEnvironment(command, spec, around));
  constexpr const char* kPut =
      "umask 077; d=/dev/shm; [ -w $d ] || d=/tmp; "
      "find $d -maxdepth 1 -name \"jobman-tty.*\" -user \"$(id -u)\" -mmin +1 -exec rm -f {} + "
      "2>/dev/null; f=$(mktemp $d/jobman-tty.XXXXXX) && cat >\"$f\" && echo \"jobman-file $f\"";
  return TerminalCall{.put = std::string("exec sh -c ") + base::ShellQuote(kPut),
                      .content = ":exec <&4 4<&-\n" + call.input};
}

std::string TerminalCall::LineFor(const std::string& path) const {
  return fmt::format("exec sh -c '{}' {} {}",
                     "exec 4<&0 <\"$1\" && rm -f \"$1\" && "
                     "jm_shell=$(command -v bash || command -v sh) && exec \"$jm_shell\" -c \"$0\"",
                     base::ShellQuote(kPrepare), base::ShellQuote(path));
}

}  // namespace jobman::remote
