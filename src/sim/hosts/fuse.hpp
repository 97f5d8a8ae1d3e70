#pragma once

#include "jobman/base/result.hpp"

namespace jobman::sim {

inline constexpr const char* kFuseDevice = "/dev/fuse";

/// Whether hosts in sandboxes can mount FUSE file systems here, as `up --fuse` asks for. An error
/// says what is missing.
base::Status CheckFuse();

}  // namespace jobman::sim
