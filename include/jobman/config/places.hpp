#pragma once

#include <string_view>

#include "jobman/base/result.hpp"

namespace jobman::config {

/// Checks a zone such as "us-central2-b"; the error says so if it is a region.
base::Status CheckZone(std::string_view zone);
/// Checks a project id or number.
base::Status CheckProject(std::string_view project);

}  // namespace jobman::config
