#pragma once

#include <string>
#include <string_view>

namespace jobman::cloud {

/// AcceleratorConfig.type of a generation: "V5LITE_POD" for "v5litepod"; empty if it has none.
std::string ConfigTypeOf(std::string_view generation);
/// The type of a slice with that AcceleratorConfig: "v4-16" for "V4", "2x2x2"; empty if it is not
/// known here.
std::string TypeOfConfig(std::string_view config_type, std::string_view topology);

}  // namespace jobman::cloud
