#include "jobman/core/built_in.hpp"

#include "jobman/core/job_spec.hpp"

namespace jobman::core {

bool IsSshsOwnFile(std::string_view name) {
  return name == "config" || name == "authorized_keys" || name.starts_with("known_hosts") ||
         name.starts_with("jobman-peers");
}

std::vector<BuiltIn> BuiltInsOf(const JobSpec& spec) {
  std::vector<BuiltIn> steps;
  const bool give_code = spec.ssh.host_to_host;  // to each other, once they can log in
  if (!spec.code.empty() && !give_code) steps.push_back(BuiltIn::kCode);
  if (!spec.ssh.identities.empty()) steps.push_back(BuiltIn::kIdentities);
  if (spec.ssh.host_to_host) steps.push_back(BuiltIn::kPeers);
  if (!spec.code.empty() && give_code) steps.push_back(BuiltIn::kCode);
  if (!spec.gcsfuse.bucket_name.empty()) steps.push_back(BuiltIn::kGcsfuse);
  if (!spec.nfs.path.empty()) steps.push_back(BuiltIn::kNfs);
  switch (spec.env_type.value_or(EnvType::kNone)) {
    case EnvType::kNone:
      break;
    case EnvType::kDocker:
      steps.push_back(BuiltIn::kDocker);
      break;
    case EnvType::kConda:
      steps.push_back(BuiltIn::kConda);
      break;
    case EnvType::kVenv:
      steps.push_back(BuiltIn::kVenv);
      break;
  }
  return steps;
}

std::vector<BuiltIn> LastBuiltInsOf(const JobSpec& spec) {
  std::vector<BuiltIn> steps;
  if (spec.checks.devices || spec.checks.jax) steps.push_back(BuiltIn::kChecks);
  return steps;
}

bool MayVanish(BuiltIn step) {
  return step == BuiltIn::kGcsfuse || step == BuiltIn::kNfs;
}

bool IsShared(BuiltIn step) {
  return step == BuiltIn::kPeers;
}

std::string_view BuiltInName(BuiltIn step) {
  switch (step) {
    case BuiltIn::kCode:
      return "code";
    case BuiltIn::kIdentities:
      return "identities";
    case BuiltIn::kPeers:
      return "host-to-host";
    case BuiltIn::kGcsfuse:
      return "gcsfuse";
    case BuiltIn::kNfs:
      return "nfs";
    case BuiltIn::kDocker:
      return "docker";
    case BuiltIn::kConda:
      return "conda";
    case BuiltIn::kVenv:
      return "venv";
    case BuiltIn::kChecks:
      return "checks";
  }
  return {};
}

std::string_view EnvTypeName(EnvType type) {
  switch (type) {
    case EnvType::kNone:
      return "none";
    case EnvType::kDocker:
      return "docker";
    case EnvType::kConda:
      return "conda";
    case EnvType::kVenv:
      return "venv";
  }
  return {};
}

}  // namespace jobman::core
