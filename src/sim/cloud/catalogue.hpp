#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "jobman/base/result.hpp"
#include "jobman/core/accelerators.hpp"

namespace jobman::sim {

/// The zones that offer any TPU, sorted.
/// Source: Cloud TPU documentation, page "TPU regions and zones", and public price catalogues.
const std::vector<std::string>& Zones();
bool IsZone(const std::string& zone);
/// "ZONE/TYPE" to the number of hosts, as in Settings::types.
using MoreTypes = std::map<std::string, std::int64_t>;
/// The accelerator types a zone offers, generation by generation, by size, then those of `more`.
std::vector<std::string> TypesIn(const std::string& zone, const MoreTypes& more = {});
bool IsOffered(const std::string& type, const std::string& zone, const MoreTypes& more = {});
/// A type of `more` has hosts of four chips with two cores each.
base::Result<core::Accelerator> FindType(const std::string& type, const std::string& zone,
                                         const MoreTypes& more);
/// Runtime versions (software images) that nodes may be created with, in every zone.
const std::vector<std::string>& RuntimeVersions();
/// Accepts also every version of the TensorFlow and Container-Optimized OS images.
bool IsRuntime(const std::string& version);

/// "V4" for v4, "V5LITE_POD" for v5litepod: AcceleratorConfig.Type of the API.
std::string ConfigType(const std::string& generation);
/// The accelerator of an AcceleratorConfig: {"V4", "2x2x2"} is a v4-16.
base::Result<core::Accelerator> FromConfig(const std::string& config_type,
                                           const std::string& topology);

/// The topology of a slice in chips: "2x2x4". For sizes without a usual one, the most even box of
/// cubes of 64 chips (a guess).
std::string TopologyOf(const core::Accelerator& shape);
/// TensorFlow versions, of API v1. A guess: today's service may have others.
const std::vector<std::string>& TensorFlowVersions();

/// The quota that a slice uses: cores for v2, v3, v4 and v5p, chips for v5litepod and v6e.
std::int64_t QuotaUnits(const core::Accelerator& shape);
/// The quota's id in error messages: "TPUV4sPreemptiblePodPerProjectPerZoneForTPUAPI".
std::string QuotaId(const core::Accelerator& shape, bool spot);

}  // namespace jobman::sim
