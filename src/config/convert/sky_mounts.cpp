// Of a task of SkyPilot, the section file_mounts.
#include <optional>

#include "config/convert/sky_parts.hpp"
#include "jobman/base/strings.hpp"

namespace jobman::config::convert {
namespace {

constexpr std::string_view kBucketScheme = "gs://";
constexpr const char* kOwnFiles =
    "put the files into workdir, which becomes code.dir, or fetch them in a step of setup";
constexpr const char* kMounted =
    "the bucket is mounted, not copied: what the job writes there goes to the bucket";

/// One mount as the task describes it.
struct Mount {
  std::string folder = {};
  std::string name = {};  ///< "file_mounts./data"
  Position pos = {};
};

class MountConverter {
 public:
  explicit MountConverter(SkyTask& task) : task_(task) {}

  void Convert(const Value& value) {
    const Mount mount{.folder = FolderOf(task_.Filled(value.key)),
                      .name = "file_mounts." + value.key,
                      .pos = value.pos};
    if (value.is_map()) return Storage(value, mount);
    if (!task_.IsText(value, mount.name)) return;
    if (const auto bucket = BucketOf(task_.Filled(value.text), mount)) {
      task_.reports.PassOver(mount.pos, mount.name, kMounted);
      Add(*bucket, mount);
    }
  }

 private:
  /// A relative path of the hosts begins at the folder of the task.
  static std::string FolderOf(const std::string& path) {
    const bool whole = path.starts_with('/') || path.starts_with("~/");
    return whole ? path : std::string(kSkyFolder) + "/" + path;
  }

  /// The name of a bucket; reports what is none.
  std::optional<std::string> BucketOf(const std::string& source, const Mount& mount) {
    if (!source.starts_with(kBucketScheme)) {
      const bool url = base::Contains(source, "://");
      task_.reports.Refuse(mount.pos, mount.name + ": " + source + " is not mounted on the hosts",
                           url ? "only buckets of Cloud Storage are: gs://BUCKET" : kOwnFiles);
      return std::nullopt;
    }
    std::string bucket = source.substr(kBucketScheme.size());
    while (bucket.ends_with('/')) bucket.pop_back();
    if (!base::Contains(bucket, "/")) return bucket;
    const std::string whole = bucket.substr(0, bucket.find('/'));
    task_.reports.Refuse(mount.pos, mount.name + ": a folder of a bucket is not mounted alone",
                         "mount gs://" + whole + ", and use its folder " +
                             bucket.substr(whole.size() + 1) + " below " + mount.folder);
    return std::nullopt;
  }

  static std::string TextOf(const Value& storage, std::string_view key) {
    const Value* const value = storage.Find(key);
    return value != nullptr && value->is_scalar() ? value->text : std::string();
  }

  /// {source: gs://BUCKET, mode: MOUNT}, or {name: BUCKET, store: gcs}.
  void Storage(const Value& storage, const Mount& mount) {
    if (!CheckKeys(storage, mount)) return;
    const std::string mode = base::ToLower(TextOf(storage, "mode"));
    if (mode == "copy") task_.reports.PassOver(mount.pos, mount.name, kMounted);
    if (mode == "mount_cached")
      task_.reports.PassOver(mount.pos, mount.name + ".mode", "gcsfuse.cache of a job file caches");
    const Value* const source = storage.Find("source");
    if (source != nullptr && source->is_list()) {
      return task_.reports.Refuse(source->pos, mount.name + ".source: files are not uploaded",
                                  kOwnFiles);
    }
    const std::string text = task_.Filled(TextOf(storage, "source"));
    const auto bucket = text.empty() ? NamedBucket(storage, mount) : BucketOf(text, mount);
    if (bucket) Add(*bucket, mount);
  }

  std::optional<std::string> NamedBucket(const Value& storage, const Mount& mount) {
    const std::string name = task_.Filled(TextOf(storage, "name"));
    const std::string store = base::ToLower(TextOf(storage, "store"));
    if (name.empty() || store != "gcs") {
      task_.reports.Refuse(mount.pos, mount.name + " names no bucket of Cloud Storage",
                           "write source: gs://BUCKET");
      return std::nullopt;
    }
    task_.reports.PassOver(mount.pos, mount.name + ".name",
                           "the bucket must exist: jobman makes none");
    return name;
  }

  bool CheckKeys(const Value& storage, const Mount& mount) {
    bool known = true;
    for (const Value& key : storage.children) {
      bool found = key.is_null();
      for (const std::string_view name : {"source", "name", "store", "mode", "persistent"})
        found = found || key.key == name;
      if (!found) {
        task_.reports.Refuse(key.key_pos, mount.name + "." + key.key + " has no meaning here",
                             "leave it out; gcsfuse.cache of a job file sets how a bucket is read");
      }
      known = known && found;
    }
    return known;
  }

  void Add(const std::string& bucket, const Mount& mount) {
    if (!task_.draft.Has("gcsfuse")) {
      task_.draft.Set("gcsfuse.bucket_name", bucket);
      task_.draft.Set("gcsfuse.mount_path", mount.folder);
    } else {
      task_.draft.Append("gcsfuse.extra_mounts",
                         {{"bucket_name", bucket}, {"mount_path", mount.folder}});
    }
  }

  SkyTask& task_;
};

}  // namespace

void ConvertSkyMounts(const Value& mounts, SkyTask& task) {
  if (!mounts.is_map()) {
    return task.reports.Wrong(
        mounts.pos, "file_mounts: expected a map of keys, found " + std::string(KindText(mounts)));
  }
  MountConverter converter(task);
  for (const Value& mount : mounts.children) converter.Convert(mount);
}

}  // namespace jobman::config::convert
