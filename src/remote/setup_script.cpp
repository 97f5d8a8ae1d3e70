#include "jobman/remote/setup_script.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "jobman/base/shell.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/core/built_in.hpp"
#include "remote/setup_calls.hpp"
#include "remote/setup_text.hpp"

namespace jobman::remote {
namespace {

std::string CallsOf(const core::JobSpec& spec, core::BuiltIn step) {
  switch (step) {
    case core::BuiltIn::kCode:
      return CodeCalls(spec.code);
    case core::BuiltIn::kIdentities:
      return IdentityCalls(spec.ssh);
    case core::BuiltIn::kPeers:
      return PeersCalls();
    case core::BuiltIn::kGcsfuse:
      return GcsfuseCalls(spec);
    case core::BuiltIn::kNfs:
      return NfsCalls(spec);
    case core::BuiltIn::kDocker:
      return DockerCalls(spec.docker);
    case core::BuiltIn::kConda:
      return CondaCalls(spec.conda);
    case core::BuiltIn::kVenv:
      return VenvCalls(spec.venv);
    case core::BuiltIn::kChecks:
      return CheckCalls(spec);
  }
  return {};
}

std::string VariableOf(std::size_t identity) {
  return "JOBMAN_IDENTITY_" + std::to_string(identity);
}

std::string FileName(const std::string& path) {
  return std::filesystem::path(path).filename();
}

/// On the script's own first line, so that the shell counts its lines as the job file does.
constexpr std::string_view kStrict =
    "set -e; if (set -o pipefail) 2>/dev/null; then set -o pipefail; fi; ";

/// A script that names its interpreter is not read by our shell.
std::string StepScript(const core::SetupStep& step) {
  if (!step.strict || step.run.starts_with("#!")) return step.run;
  return std::string(kStrict) + step.run;
}

/// The public half keeps its own name there, unless another file has that: jobs that an earlier
/// jobman stored may have any.
std::string PublicName(const core::SshSpec& ssh, const core::Identity& identity) {
  const std::string own = FileName(identity.public_key);
  const bool is_private =
      std::any_of(ssh.identities.begin(), ssh.identities.end(),
                  [&](const core::Identity& one) { return FileName(one.private_key) == own; });
  if (own.empty() || (!is_private && !core::IsSshsOwnFile(own))) return own;
  return FileName(identity.private_key) + ".pub";
}

}  // namespace

std::string ShellCall(std::string_view function, const std::vector<std::string>& arguments) {
  std::string line(function);
  for (const std::string& argument : arguments) line += " " + base::ShellQuote(argument);
  return line + "\n";
}

std::string IdentityCalls(const core::SshSpec& ssh) {
  std::string calls, entries;
  for (std::size_t i = 0; i < ssh.identities.size(); ++i) {
    const core::Identity& identity = ssh.identities[i];
    calls +=
        ShellCall("jb_identity", {std::to_string(i), FileName(identity.private_key),
                                  PublicName(ssh, identity), identity.authorize ? "yes" : "no"});
    entries += identity.config_entry;
    if (!entries.empty() && !entries.ends_with('\n')) entries += '\n';
  }
  return calls + ShellCall("jb_ssh_config", {std::string(base::Trim(entries))});
}

std::string PeersCalls() {
  std::string podrun;
  for (const char* const part : {"podrun-options", "podrun-runs", "podrun"})
    podrun += SetupText(part);
  return ShellCall("jb_peers", {std::string(base::Trim(podrun))});
}

std::string SetupScript(const core::JobSpec& spec, const core::StageId& stage) {
  const auto built_in = core::BuiltInOf(spec, stage);
  if (!built_in) return StepScript(*core::StepOf(spec, stage));
  std::string script(SetupText("common"));
  if (*built_in == core::BuiltIn::kPeers) script += SetupText("identities");
  return script + std::string(SetupText(core::BuiltInName(*built_in))) + CallsOf(spec, *built_in);
}

std::string CommandScript(const core::JobSpec& spec) {
  const std::string& cmd = spec.command.cmd;
  if (cmd.empty()) return "while :; do sleep 3600; done\n";
  switch (spec.env_type.value_or(core::EnvType::kNone)) {
    case core::EnvType::kNone:
      return cmd;
    case core::EnvType::kDocker:
      return InContainer(spec);
    case core::EnvType::kConda:
      return InConda(spec.conda, cmd);
    case core::EnvType::kVenv:
      return InVenv(spec.venv, cmd);
  }
  return cmd;
}

std::vector<StageFile> FilesOf(const core::JobSpec& spec, const core::StageId& stage) {
  std::vector<StageFile> files;
  if (core::BuiltInOf(spec, stage) != core::BuiltIn::kIdentities) return files;
  for (std::size_t i = 0; i < spec.ssh.identities.size(); ++i) {
    const core::Identity& identity = spec.ssh.identities[i];
    files.push_back({.variable = VariableOf(i), .file = identity.private_key});
    if (identity.public_key.empty()) continue;
    files.push_back({.variable = VariableOf(i) + "_PUBLIC", .file = identity.public_key});
  }
  return files;
}

}  // namespace jobman::remote
