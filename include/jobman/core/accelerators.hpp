#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "jobman/base/result.hpp"

namespace jobman::core {

/// What an accelerator type says about a slice before one exists. Once it exists, the number of
/// networkEndpoints is its number of hosts.
///
/// Source: Cloud TPU documentation, pages "TPU v2".."TPU v6e" (system architecture, VM types).
struct Accelerator {
  std::string type = {};        ///< "v4-32"
  std::string generation = {};  ///< "v2", "v3", "v4", "v5litepod", "v5p", "v6e"
  int cores = 0;                ///< TensorCores
  int chips = 0;
  int hosts = 0;              ///< TPU VMs
  std::string topology = {};  ///< default topology in chips, "2x2x4"; empty for odd sizes

  friend bool operator==(const Accelerator&, const Accelerator&) = default;
};

/// The type by its API name. The error names the nearest type that is known here. The table is of
/// the day this program was made: the API may offer others (MayBeType).
base::Result<Accelerator> FindAccelerator(std::string_view type);
/// The type of that generation whose chips lie in that topology: "v4", "4x4x16" is a v4-512. What
/// has no such slices is refused with what they have.
///
/// Source: Cloud TPU documentation, page "TPU types and topologies": v4 has AxBxC with A<=B<=C, all
/// of them at most 4 or multiples of 4; of the others and of fewer than 64 chips, the pages of the
/// generations list one topology for a size.
base::Result<Accelerator> FindTopology(std::string_view generation, std::string_view topology);
/// Whether a type that is not known here could be one of the API's by its spelling: lower-case
/// letters, digits and "-".
bool MayBeType(std::string_view type);
/// The known generation in the name of a type, "v4" for "v4-8192"; empty if it is not known.
std::string GenerationOf(std::string_view type);
/// Every type name known here, generation by generation, by size.
std::vector<std::string> AcceleratorTypes();
/// The runtime version (software image) that fits a generation, for JAX and PyTorch:
/// "tpu-ubuntu2204-base" for v2-v4, "v2-alpha-tpuv5-lite", "v2-alpha-tpuv5", "v2-alpha-tpuv6e".
/// Source: Cloud TPU documentation, page "TPU software versions".
std::string DefaultRuntime(std::string_view generation);

}  // namespace jobman::core
