#include "cloud/accelerator_config.hpp"

#include <array>
#include <utility>

#include "jobman/core/accelerators.hpp"

namespace jobman::cloud {
namespace {

/// Generations as types name them, and as AcceleratorConfig.type does. Source: the API's discovery
/// document.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kConfigTypes = {{
    {"v2", "V2"},
    {"v3", "V3"},
    {"v4", "V4"},
    {"v5litepod", "V5LITE_POD"},
    {"v5p", "V5P"},
    {"v6e", "V6E"},
}};

}  // namespace

std::string ConfigTypeOf(std::string_view generation) {
  for (const auto& [name, config_type] : kConfigTypes) {
    if (name == generation) return std::string(config_type);
  }
  return {};
}

std::string TypeOfConfig(std::string_view config_type, std::string_view topology) {
  for (const auto& [generation, name] : kConfigTypes) {
    if (name != config_type) continue;
    const auto type = core::FindTopology(generation, topology);
    return type.ok() ? type->type : std::string();
  }
  return {};
}

}  // namespace jobman::cloud
