#include "remote/setup_calls.hpp"

namespace jobman::remote {
namespace {

void AddFlag(std::vector<std::string>& flags, const std::string& name, const std::string& value) {
  if (!value.empty()) flags.push_back("--" + name + "=" + value);
}

void AddFlag(std::vector<std::string>& flags, const std::string& name, std::optional<bool> value) {
  if (value) AddFlag(flags, name, std::string(*value ? "true" : "false"));
}

std::string OrUnlimited(const std::string& value) {
  return value.empty() ? "-1" : value;
}

/// Flags of gcsfuse 2.5 and later; the script leaves out those that an older one refuses.
/// --cache-dir is the script's: it knows the home folder.
std::vector<std::string> MountFlags(const core::GcsfuseCache& cache) {
  std::vector<std::string> flags = {"--implicit-dirs", "--dir-mode=777", "--file-mode=777",
                                    "--kernel-list-cache-ttl-secs=-1"};
  AddFlag(flags, "metadata-cache-ttl-secs", OrUnlimited(cache.metadata_ttl_secs));
  AddFlag(flags, "stat-cache-max-size-mb", OrUnlimited(cache.stat_cache_max_size_mb));
  AddFlag(flags, "type-cache-max-size-mb", OrUnlimited(cache.type_cache_max_size_mb));
  AddFlag(flags, "file-cache-max-size-mb", cache.file_cache_max_size_mb);
  AddFlag(flags, "file-cache-cache-file-for-range-read", cache.cache_file_for_range_read);
  AddFlag(flags, "file-cache-enable-parallel-downloads", cache.enable_parallel_downloads);
  return flags;
}

std::string MountCall(const core::BucketMount& mount, const std::string& who) {
  const core::GcsfuseCache& cache = mount.cache;
  std::vector<std::string> arguments = {mount.bucket_name, mount.mount_path, who, cache.dir,
                                        cache.prefix};
  for (std::string& flag : MountFlags(cache)) arguments.push_back(std::move(flag));
  return ShellCall("jb_mount", arguments);
}

}  // namespace

std::string GcsfuseCalls(const core::JobSpec& spec) {
  const core::GcsfuseSpec& gcsfuse = spec.gcsfuse;
  const std::string who = spec.env_type == core::EnvType::kDocker ? "everyone" : "user";
  std::string calls = MountCall({.bucket_name = gcsfuse.bucket_name,
                                 .mount_path = gcsfuse.mount_path,
                                 .cache = gcsfuse.cache},
                                who);
  for (core::BucketMount mount : gcsfuse.extra_mounts) {
    if (mount.bucket_name.empty()) mount.bucket_name = gcsfuse.bucket_name;
    calls += MountCall(mount, who);
  }
  return calls;
}

}  // namespace jobman::remote
