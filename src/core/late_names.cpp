#include "jobman/core/late_names.hpp"

#include <algorithm>
#include <array>

#include "jobman/base/strings.hpp"

namespace jobman::core {
namespace {

struct LateName {
  std::string_view key;
  std::string (*value)(const Job& job, const std::string& job_dir);
};

constexpr std::array kLateNames = {
    LateName{"tpu.name",
             [](const Job& job, const std::string&) {
               return job.slice ? job.slice->ref.name : std::string();
             }},
    LateName{"job.id", [](const Job& job, const std::string&) { return FormatJobId(job.id); }},
    LateName{"job.user", [](const Job& job, const std::string&) { return job.user; }},
    LateName{"job.dir", [](const Job&, const std::string& job_dir) { return job_dir; }},
    LateName{"tpu.num_workers",
             [](const Job& job, const std::string&) {
               return std::to_string(job.slice ? job.slice->hosts.size() : std::size_t{0});
             }},
};

}  // namespace

bool IsLateName(std::string_view key) {
  return std::any_of(kLateNames.begin(), kLateNames.end(),
                     [&](const LateName& one) { return one.key == key; });
}

JobSpec BindLateNames(const Job& job, const std::string& job_dir) {
  const auto bind = [&](std::string& text) {
    for (const LateName& one : kLateNames) {
      const std::string written = "${" + std::string(one.key) + "}";
      if (base::Contains(text, written)) {
        text = base::ReplaceAll(text, written, one.value(job, job_dir));
      }
    }
  };
  JobSpec spec = job.spec;
  bind(spec.command.cmd);
  bind(spec.command.workdir);
  for (auto& [name, value] : spec.command.env) bind(value);
  for (auto& [name, value] : spec.environment) bind(value);
  for (std::string& one : spec.docker.env_vars) bind(one);
  for (std::string& one : spec.docker.flags) bind(one);
  for (std::string& one : spec.docker.mount_dirs) bind(one);
  bind(spec.docker.workdir);
  for (Identity& identity : spec.ssh.identities) bind(identity.config_entry);
  bind(spec.nfs.path);
  bind(spec.gcsfuse.mount_path);
  bind(spec.gcsfuse.cache.dir);
  bind(spec.gcsfuse.cache.prefix);
  for (BucketMount& mount : spec.gcsfuse.extra_mounts) {
    bind(mount.mount_path);
    bind(mount.cache.dir);
    bind(mount.cache.prefix);
  }
  for (SetupStep& step : spec.setup) bind(step.run);
  return spec;
}

}  // namespace jobman::core
