#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "jobman/base/task.hpp"
#include "jobman/core/regions.hpp"

namespace jobman::ports {

/// A bucket of Cloud Storage as the service shows it.
struct BucketSeen {
  std::string name = {};
  core::BucketLocation location = {};
  std::string location_type = {};  ///< "region", "dual-region", "multi-region"
  std::string storage_class = {};  ///< of new objects: "STANDARD"
  friend bool operator==(const BucketSeen&, const BucketSeen&) = default;
};

/// The buckets of a project, read only. The object must outlive its coroutines.
class BucketList {
 public:
  virtual ~BucketList() = default;
  /// All of a project, over all pages, by name.
  virtual base::Task<base::Result<std::vector<BucketSeen>>> OfProject(std::string project) = 0;
  /// One, of any project. kNotFound, kPermissionDenied.
  virtual base::Task<base::Result<BucketSeen>> One(std::string bucket) = 0;
};

/// How much is in the buckets of a project. The object must outlive its coroutines.
class BucketSizes {
 public:
  virtual ~BucketSizes() = default;
  /// Bytes of all objects by bucket, as last measured before `now`, which happens once a day. A
  /// bucket without objects, or younger than a day, is absent.
  virtual base::Task<base::Result<std::map<std::string, std::int64_t>>> OfProject(
      std::string project, base::TimePoint now) = 0;
};

}  // namespace jobman::ports
