#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace jobman::core {

// The sections of a job file that prepare the hosts: each asks for a setup step of its own, before
// those that the job file lists (see BuiltInsOf), `checks` after them. gcsfuse, docker, conda and
// venv mean what they mean in Python jobman, whose job files run unchanged.

/// Where the command runs: `job.env_type`. Of the sections of these names only this one is used.
enum class EnvType { kNone, kDocker, kConda, kVenv };

/// `gcsfuse.cache`: flags of gcsfuse. Numbers as they are passed on; -1 is without limit.
struct GcsfuseCache {
  std::string dir = {};  ///< on the host
  std::string metadata_ttl_secs = {};
  std::string stat_cache_max_size_mb = {};
  std::string type_cache_max_size_mb = {};
  std::string file_cache_max_size_mb = {};
  std::optional<bool> cache_file_for_range_read = {};
  std::optional<bool> enable_parallel_downloads = {};
  std::string prefix = {};  ///< shell script that runs before the mount
  static void Fields(auto&& field) {
    field("dir", &GcsfuseCache::dir);
    field("metadata_ttl_secs", &GcsfuseCache::metadata_ttl_secs);
    field("stat_cache_max_size_mb", &GcsfuseCache::stat_cache_max_size_mb);
    field("type_cache_max_size_mb", &GcsfuseCache::type_cache_max_size_mb);
    field("file_cache_max_size_mb", &GcsfuseCache::file_cache_max_size_mb);
    field("cache_file_for_range_read", &GcsfuseCache::cache_file_for_range_read);
    field("enable_parallel_downloads", &GcsfuseCache::enable_parallel_downloads);
    field("prefix", &GcsfuseCache::prefix);
  }
  friend bool operator==(const GcsfuseCache&, const GcsfuseCache&) = default;
};

/// A Cloud Storage bucket mounted as a folder of every host.
struct BucketMount {
  std::string bucket_name = {};
  std::string mount_path = {};  ///< absolute, or "~/x"
  GcsfuseCache cache = {};
  static void Fields(auto&& field) {
    field("bucket_name", &BucketMount::bucket_name);
    field("mount_path", &BucketMount::mount_path);
    field("cache", &BucketMount::cache);
  }
  friend bool operator==(const BucketMount&, const BucketMount&) = default;
};

struct GcsfuseSpec {
  std::string bucket_name = {};  ///< empty: nothing is mounted
  std::string mount_path = {};
  GcsfuseCache cache = {};
  std::vector<BucketMount> extra_mounts = {};
  static void Fields(auto&& field) {
    field("bucket_name", &GcsfuseSpec::bucket_name);
    field("mount_path", &GcsfuseSpec::mount_path);
    field("cache", &GcsfuseSpec::cache);
    field("extra_mounts", &GcsfuseSpec::extra_mounts);
  }
  friend bool operator==(const GcsfuseSpec&, const GcsfuseSpec&) = default;
};

/// `nfs`: a folder that all hosts share.
struct NfsSpec {
  std::string path = {};      ///< absolute, or "~/x"; empty: nothing is shared
  std::string exported = {};  ///< SERVER:/FOLDER; empty: host 0 exports `path` to the others
  static void Fields(auto&& field) {
    field("path", &NfsSpec::path);
    field("export", &NfsSpec::exported);
  }
  friend bool operator==(const NfsSpec&, const NfsSpec&) = default;
};

/// What `create` took: see CodeSpec.
struct CodeSnapshot {
  std::string sha256 = {};  ///< of the archive
  int files = 0;
  std::int64_t packed = 0;    ///< bytes of the archive
  std::int64_t unpacked = 0;  ///< bytes of the files
  std::string commit = {};    ///< of `git`, or that `dir` was at; empty: none is known
  bool changed = false;       ///< `dir` had changes that the commit lacks
  bool empty() const { return sha256.empty(); }
  static void Fields(auto&& field) {
    field("sha256", &CodeSnapshot::sha256);
    field("files", &CodeSnapshot::files);
    field("packed", &CodeSnapshot::packed);
    field("unpacked", &CodeSnapshot::unpacked);
    field("commit", &CodeSnapshot::commit);
    field("changed", &CodeSnapshot::changed);
  }
  friend bool operator==(const CodeSnapshot&, const CodeSnapshot&) = default;
};

/// Largest archive unless code.max_size says otherwise.
inline constexpr std::int64_t kMostCode = std::int64_t{100} << 20;

/// `code`: files that every host gets before anything else runs there. Either `dir` or `git` is
/// set.
struct CodeSpec {
  std::string dir = {};                   ///< a folder of this machine
  std::vector<std::string> exclude = {};  ///< patterns as in .gitignore, of `dir`
  std::string git = {};                   ///< URL or path of a repository
  std::string ref = {};                   ///< branch, tag or commit of `git`; empty: its HEAD
  bool submodules = false;                ///< of `git`
  std::string path = {};                  ///< on the hosts: absolute, or "~/x"
  std::int64_t max_size = kMostCode;      ///< bytes of the archive
  CodeSnapshot snapshot = {};
  /// No code is sent; the other members mean nothing then.
  bool empty() const { return dir.empty() && git.empty(); }
  static void Fields(auto&& field) {
    field("dir", &CodeSpec::dir);
    field("exclude", &CodeSpec::exclude);
    field("git", &CodeSpec::git);
    field("ref", &CodeSpec::ref);
    field("submodules", &CodeSpec::submodules);
    field("path", &CodeSpec::path);
    field("max_size", &CodeSpec::max_size);
    field("snapshot", &CodeSpec::snapshot);
  }
  friend bool operator==(const CodeSpec&, const CodeSpec&) = default;
};

/// `checks`: what every host proves before the command runs.
struct ChecksSpec {
  bool devices = false;  ///< it has the device files of as many chips as its type
  bool jax = false;      ///< JAX, where the command would find it, sees all chips of the slice
  static void Fields(auto&& field) {
    field("devices", &ChecksSpec::devices);
    field("jax", &ChecksSpec::jax);
  }
  friend bool operator==(const ChecksSpec&, const ChecksSpec&) = default;
};

/// `docker`: the command runs in a container on every host.
struct DockerSpec {
  std::string image = {};
  std::vector<std::string> flags = {};       ///< of docker run, a word each
  std::vector<std::string> env_vars = {};    ///< NAME=VALUE
  std::vector<std::string> mount_dirs = {};  ///< HOST or HOST:CONTAINER
  std::string workdir = {};
  static void Fields(auto&& field) {
    field("image", &DockerSpec::image);
    field("flags", &DockerSpec::flags);
    field("env_vars", &DockerSpec::env_vars);
    field("mount_dirs", &DockerSpec::mount_dirs);
    field("workdir", &DockerSpec::workdir);
  }
  friend bool operator==(const DockerSpec&, const DockerSpec&) = default;
};

/// `conda`: the command runs in an environment made by conda.
struct CondaSpec {
  std::string name = {};
  std::string config_file = {};  ///< its content, with a line break at the end
  static void Fields(auto&& field) {
    field("name", &CondaSpec::name);
    field("config_file", &CondaSpec::config_file);
  }
  friend bool operator==(const CondaSpec&, const CondaSpec&) = default;
};

/// `venv`: the command runs in a Python virtual environment, ~/NAME.
struct VenvSpec {
  std::string name = {};
  std::string requirements_file = {};  ///< its content, with a line break at the end
  std::string python = {};             ///< "python3.10"
  static void Fields(auto&& field) {
    field("name", &VenvSpec::name);
    field("requirements_file", &VenvSpec::requirements_file);
    field("python", &VenvSpec::python);
  }
  friend bool operator==(const VenvSpec&, const VenvSpec&) = default;
};

std::string_view EnvTypeName(EnvType type);
inline std::string_view WordOf(EnvType type) {
  return EnvTypeName(type);
}

}  // namespace jobman::core
