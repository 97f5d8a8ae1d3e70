#include "remote/export_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "jobman/base/shell.hpp"

namespace jobman::remote {
namespace {

// The variable's value as a shell word.
std::string ValueWord(std::string_view name, std::string_view value) {
  if (name.starts_with("JOBMAN_") && value.starts_with("~/"))
    return "\"$HOME\"/" + base::ShellQuote(value.substr(2));
  return base::ShellQuote(value);
}

}  // namespace

base::Result<std::string> ExportLines(const Variables& env, const Variables& secrets) {
  std::map<std::string_view, std::string_view> all(secrets.begin(), secrets.end());
  all.insert(env.begin(), env.end());
  // Ours first: their "~/" is the host's home folder, even if the job has another HOME.
  std::vector<std::pair<std::string_view, std::string_view>> ordered(all.begin(), all.end());
  std::stable_partition(ordered.begin(), ordered.end(),
                        [](const auto& one) { return one.first.starts_with("JOBMAN_"); });
  std::string lines;
  for (const auto& [name, value] : ordered) {
    if (!base::IsEnvName(name))
      return base::InvalidArgument(
          fmt::format("'{}' cannot be the name of an environment variable", name),
          "use letters, digits and _, and begin with no digit");
    if (value.find('\0') != std::string::npos)
      return base::InvalidArgument(fmt::format("the value of {} holds a NUL byte", name),
                                   "environment variables cannot hold one: encode the value");
    lines.append("export ").append(name).append("=").append(ValueWord(name, value)) += '\n';
  }
  return lines;
}

}  // namespace jobman::remote
