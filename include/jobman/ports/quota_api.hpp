#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "jobman/base/task.hpp"

namespace jobman::ports {

/// A limit on how much a project may hold at once.
struct TpuLimit {
  enum class Scope { kProject, kRegion, kZone };
  std::string metric = {};  ///< "tpu.googleapis.com/tpu-v5s-litepod-preemptible"
  std::string name = {};    ///< "Preemptible TPU v5 lite pod cores", for people; may be empty
  Scope scope = Scope::kProject;
  /// The zone or region; empty with these scopes: each that has no limit of its own.
  std::string location = {};
  std::optional<std::int64_t> limit = {};  ///< nothing: the service does not say it; never 0 then
  bool unlimited = false;
  /// Of a limit without a location: where there is such a limit; empty if the service does not say.
  std::vector<std::string> locations = {};
  friend bool operator==(const TpuLimit&, const TpuLimit&) = default;
};

/// The quotas of a project, read only. The object must outlive its coroutines.
class QuotaApi {
 public:
  virtual ~QuotaApi() = default;
  /// Those of Cloud TPU on what is held at once, over all pages; limits on the rate of requests are
  /// left out. kPermissionDenied: these credentials may not look; with kApiDisabled, the service is
  /// not enabled in the project.
  virtual base::Task<base::Result<std::vector<TpuLimit>>> TpuLimits(std::string project) = 0;
};

}  // namespace jobman::ports
