#include <algorithm>
#include <map>
#include <string_view>

#include "jobman/base/shell.hpp"
#include "jobman/base/strings.hpp"
#include "remote/setup_calls.hpp"
#include "remote/setup_text.hpp"

namespace jobman::remote {
namespace {

/// A word of sh in which a leading "~" is the home folder of the host.
std::string HomeWord(std::string_view path) {
  if (path == "~") return "\"$jb_home\"";
  if (path.starts_with("~/")) return "\"$jb_home\"/" + base::ShellQuote(path.substr(2));
  return base::ShellQuote(path);
}

/// HOST:CONTAINER for docker run. Without CONTAINER, the folder has the same path there.
std::string MountWord(std::string_view mount) {
  const std::size_t colon = mount.find(':');
  const std::string_view from = mount.substr(0, colon);
  const std::string_view to = colon == std::string_view::npos ? from : mount.substr(colon + 1);
  return HomeWord(from) + ":" + HomeWord(to);
}

/// Where the command starts in the container, as a word of sh; empty: where the image says. A
/// relative path begins in the home folder, as it does without a container.
std::string WorkdirWord(const core::JobSpec& spec) {
  const std::string& own = spec.docker.workdir.empty() ? spec.command.workdir : spec.docker.workdir;
  if (own.empty()) return spec.code.path.empty() ? "" : HomeWord(spec.code.path);
  const bool whole = own.starts_with('/') || own == "~" || own.starts_with("~/");
  return HomeWord(whole ? own : "~/" + own);
}

/// Whether the tools that start the container would heed it too.
bool ConcernsTools(const std::string& name) {
  return name == "PATH" || name == "HOME" || name.starts_with("LD_");
}

/// The job's variables, as words for docker run: those of the command take precedence over the
/// section's, and those over job.environment.
std::string VariableWords(const core::JobSpec& spec) {
  std::map<std::string, std::string> words;
  const auto add = [&words](const std::string& name, const std::string& value) {
    const std::string setting = name + "=" + value;
    words[name] = base::ShellQuote(ConcernsTools(name) ? setting : name);
  };
  for (const auto& [name, value] : spec.environment) add(name, value);
  for (const std::string& one : spec.docker.env_vars)
    words[one.substr(0, one.find('='))] = base::ShellQuote(one);
  for (const auto& [name, value] : spec.command.env) add(name, value);
  for (const core::SecretRef& one : spec.command.secrets)
    words[one.name] = base::ShellQuote(one.name);
  std::string text;
  for (const auto& [name, word] : words) text += " -e " + word;
  return text;
}

/// A flag and its value may be one text: "-v a:b".
std::string FlagWords(const core::DockerSpec& docker) {
  std::string text;
  for (std::string flags : docker.flags) {
    std::replace_if(
        flags.begin(), flags.end(), [](char c) { return c == '\t' || c == '\n'; }, ' ');
    for (const std::string& word : base::Split(flags, ' '))
      if (!word.empty()) text += " " + HomeWord(word);
  }
  return text;
}

}  // namespace

std::string DockerCalls(const core::DockerSpec& docker) {
  return ShellCall("jb_image", {docker.image});
}

std::string InContainer(const core::JobSpec& spec) {
  const core::DockerSpec& docker = spec.docker;
  std::string call = "jb_enter " + base::ShellQuote(docker.image) + " " +
                     base::ShellQuote(spec.command.cmd) + FlagWords(docker);
  for (const std::string& mount : docker.mount_dirs) call += " -v " + MountWord(mount);
  if (!spec.code.empty()) call += " -v " + MountWord(spec.code.path);
  if (const std::string workdir = WorkdirWord(spec); !workdir.empty()) call += " -w " + workdir;
  return std::string(SetupText("common")) + std::string(SetupText("docker")) + DockerCalls(docker) +
         call + VariableWords(spec) + "\n";
}

}  // namespace jobman::remote
