#pragma once

#include <string_view>

namespace jobman::remote {

/// The content of src/remote/setup/NAME.sh; empty if there is no such file.
std::string_view SetupText(std::string_view name);

}  // namespace jobman::remote
