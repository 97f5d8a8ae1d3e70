#pragma once

#include <string>

#include "jobman/auth/identity.hpp"
#include "jobman/cloud/cloud.hpp"

namespace jobman::cloud {

/// On whose behalf the endpoint is asked: what the spec and the environment name. All who ask on
/// one loop with the same credentials share their tokens. Errors as of MakeCloud().
Result<auth::Identity> IdentityFor(asio::any_io_executor executor, const core::CloudSpec& spec,
                                   const std::string& endpoint, const CloudOptions& options);

}  // namespace jobman::cloud
