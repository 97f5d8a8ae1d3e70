#pragma once

#include <string>
#include <utility>

#include "jobman/base/result.hpp"

namespace jobman::auth {

/// No access token was found; nothing was sent to the service.
inline base::Error NoToken(std::string message, std::string hint) {
  return {.code = base::Code::kUnauthenticated,
          .message = std::move(message),
          .reason = base::Reason::kNoToken,
          .hint = std::move(hint)};
}

}  // namespace jobman::auth
