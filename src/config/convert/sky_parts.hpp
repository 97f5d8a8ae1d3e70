#pragma once

#include <map>
#include <string>

#include "config/convert/reports.hpp"
#include "config/value.hpp"

namespace jobman::config::convert {

/// What the parts of a task share while it is converted.
struct SkyTask {
  Draft& draft;
  Reports& reports;
  std::map<std::string, std::string> envs = {};  ///< those of the task that have a value

  /// The text of a scalar with $NAME and ${NAME} of `envs` filled in, as SkyPilot does in workdir
  /// and file_mounts.
  std::string Filled(const std::string& text) const;
  /// Whether the value is a scalar; else reports that `what` is not.
  bool IsText(const Value& value, const std::string& what);
};

/// Where scripts of a task start, and what relative paths on the hosts begin with.
inline constexpr const char* kSkyFolder = "~/sky_workdir";

/// The section resources.
void ConvertSkyResources(const Value& resources, SkyTask& task);
/// The section file_mounts: buckets of Cloud Storage become those of gcsfuse.
void ConvertSkyMounts(const Value& mounts, SkyTask& task);

}  // namespace jobman::config::convert
