#include "jobman/base/shell.hpp"
#include "remote/setup_calls.hpp"
#include "remote/setup_text.hpp"

namespace jobman::remote {

std::string CondaCalls(const core::CondaSpec& conda) {
  return std::string(SetupText("environment")) +
         ShellCall("jb_conda", {conda.name, conda.config_file});
}

// The setup step wrote down where the environment is and which conda made it.
std::string InConda(const core::CondaSpec& conda, const std::string& cmd) {
  const std::string where = "\"$HOME\"/.jobman/conda/" + base::ShellQuote(conda.name) + "/where";
  return "{ read -r jb_prefix && read -r jb_exe; } 2>/dev/null <" + where +
         R"sh(
[ -d "$jb_prefix" ] && [ -x "$jb_exe" ] || {
)sh" + SayGone(conda.name) +
         R"sh(}
case $jb_exe in
  */conda) eval "$("$jb_exe" shell.posix hook)" ;;
  *) eval "$("$jb_exe" shell hook -s posix)" ;;
esac
"${jb_exe##*/}" activate "$jb_prefix" || {
  echo "jobman: $jb_exe cannot activate $jb_prefix"
  exit 1
}
unset jb_prefix jb_exe
)sh" + RestOfCommand(cmd);
}

}  // namespace jobman::remote
