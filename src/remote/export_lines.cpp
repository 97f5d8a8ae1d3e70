#include "remote/export_lines.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "jobman/base/shell.hpp"

namespace jobman::remote {
namespace {

// The variable's value as a shell word.
std::string ValueWord(const std::string& name, const std::string& value) {
  if (name.starts_with("JOBMAN_") && value.starts_with("~/"))
    return "\"$HOME\"/" + base::ShellQuote(value.substr(2));
  return base::ShellQuote(value);
}

}  // namespace

base::Result<std::string> ExportLines(const Variables& env, const Variables& secrets) {
  Variables all = secrets;
  all.insert(env.begin(), env.end());
  // Ours first: their "~/" is the host's home folder, even if the job has another HOME.
  std::vector<std::pair<std::string, std::string>> ordered(all.begin(), all.end());
  std::stable_partition(ordered.begin(), ordered.end(),
                        [](const auto& one) { return one.first.starts_with("JOBMAN_"); });
  std::string lines;
  for (const auto& [name, value] : ordered) {
    if (!base::IsEnvName(name))
      return base::InvalidArgument("'" + name + "' cannot be the name of an environment variable",
                                   "use letters, digits and _, and begin with no digit");
    if (value.find('\0') != std::string::npos)
      return base::InvalidArgument("the value of " + name + " holds a NUL byte",
                                   "environment variables cannot hold one: encode the value");
    lines += "export " + name + "=" + ValueWord(name, value) + "\n";
  }
  return lines;
}

}  // namespace jobman::remote
