#include "jobman/base/shell.hpp"
#include "remote/setup_calls.hpp"
#include "remote/setup_text.hpp"

namespace jobman::remote {

std::string VenvCalls(const core::VenvSpec& venv) {
  return std::string(SetupText("environment")) +
         ShellCall("jb_venv", {venv.name, venv.python, venv.requirements_file});
}

// Lines of their own, so that an error in the command is shown without them.
std::string InVenv(const core::VenvSpec& venv, const std::string& cmd) {
  const std::string folder = "\"$HOME\"/" + base::ShellQuote(venv.name);
  return "[ -f " + folder + "/bin/activate ] && [ -x " + folder + "/bin/python ] || {\n" +
         SayGone("~/" + venv.name) + "}\n. " + folder + "/bin/activate\n" + RestOfCommand(cmd);
}

std::string SayGone(const std::string& environment) {
  return "  echo " +
         base::ShellQuote("jobman: the environment " + environment +
                          " is not there: was it removed, or is this another home folder? "
                          "To make it again: jobman reboot --force ") +
         "\"${JOBMAN_JOB_ID:-JOB}\"\n  exit 1\n";
}

std::string RestOfCommand(const std::string& cmd) {
  if (!cmd.starts_with("#!")) return cmd;
  const std::string file = "\"$JOBMAN_RUN_DIR/script\"";
  return "(umask 077 && printf '%s\\n' " + base::ShellQuote(cmd) + " >" + file + ") && chmod 700 " +
         file +
         " || {\n  echo 'jobman: cannot write the command: is the disk full?'\n  exit 126\n}\n"
         "exec " +
         file + "\n";
}

}  // namespace jobman::remote
