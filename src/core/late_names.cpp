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

/// Calls `change` with each text of the spec that runs on the hosts.
template <typename Change>
void ChangeHostTexts(JobSpec& spec, Change change) {
  change(spec.command.cmd);
  change(spec.command.workdir);
  for (auto& [name, value] : spec.command.env) change(value);
  for (auto& [name, value] : spec.environment) change(value);
  for (std::string& one : spec.docker.env_vars) change(one);
  for (std::string& one : spec.docker.flags) change(one);
  for (std::string& one : spec.docker.mount_dirs) change(one);
  change(spec.docker.workdir);
  for (Identity& identity : spec.ssh.identities) change(identity.config_entry);
  change(spec.nfs.path);
  change(spec.gcsfuse.mount_path);
  change(spec.gcsfuse.cache.dir);
  change(spec.gcsfuse.cache.prefix);
  for (BucketMount& mount : spec.gcsfuse.extra_mounts) {
    change(mount.mount_path);
    change(mount.cache.dir);
    change(mount.cache.prefix);
  }
  for (SetupStep& step : spec.setup) change(step.run);
}

void Bind(std::string& text, std::string_view key, const std::string& value) {
  const std::string written = "${" + std::string(key) + "}";
  if (base::Contains(text, written)) text = base::ReplaceAll(text, written, value);
}

}  // namespace

bool IsLateName(std::string_view key) {
  return std::any_of(kLateNames.begin(), kLateNames.end(),
                     [&](const LateName& one) { return one.key == key; });
}

bool IsNumberedName(std::string_view key) {
  return key == "job.name" || key == "job.worker_num";
}

void BindNumber(JobSpec& spec, const std::string& number) {
  ChangeHostTexts(spec, [&](std::string& text) {
    Bind(text, "job.name", spec.name);
    Bind(text, "job.worker_num", number);
  });
}

JobSpec BindLateNames(const Job& job, const std::string& job_dir) {
  JobSpec spec = job.spec;
  ChangeHostTexts(spec, [&](std::string& text) {
    if (!base::Contains(text, "${")) return;  // as most: this is done for each host
    for (const LateName& one : kLateNames) Bind(text, one.key, one.value(job, job_dir));
  });
  return spec;
}

}  // namespace jobman::core
