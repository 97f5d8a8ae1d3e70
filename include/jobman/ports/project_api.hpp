#pragma once

#include <map>
#include <string>
#include <vector>

#include "jobman/base/task.hpp"

namespace jobman::ports {

using base::Result;
using base::Task;

/// On whose behalf the cloud is asked.
struct LoginSeen {
  std::string origin = {};     ///< "the token file FILE": where the credentials were found
  std::string account = {};    ///< e-mail address; empty if nobody says it
  std::string open_file = {};  ///< holds the secret, and all users may read it; else empty
};

/// How much of something a region gives a project.
struct RegionQuota {
  std::string metric = {};  ///< "IN_USE_ADDRESSES"
  double limit = 0;
  double usage = 0;
  friend bool operator==(const RegionQuota&, const RegionQuota&) = default;
};

/// What Compute Engine knows of a project, for diagnosis. Nothing is changed. The object must
/// outlive its coroutines.
class ProjectApi {
 public:
  virtual ~ProjectApi() = default;
  /// The metadata that all virtual machines of the project see (Project.commonInstanceMetadata).
  /// kPermissionDenied: these credentials may not look.
  virtual Task<Result<std::map<std::string, std::string>>> Metadata(std::string project) = 0;
  /// A quota whose limit is not told is left out. A negative limit is none.
  virtual Task<Result<std::vector<RegionQuota>>> Quotas(std::string project,
                                                        std::string region) = 0;
};

}  // namespace jobman::ports
