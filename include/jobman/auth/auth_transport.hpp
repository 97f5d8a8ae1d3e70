#pragma once

#include <memory>

#include "jobman/auth/identity.hpp"
#include "jobman/http/transport.hpp"

namespace jobman::auth {

/// Adds "Authorization: Bearer" to every request, x-goog-user-project if the identity names one,
/// and x-goog-api-client as Google's own clients do. A token is sent over https or to this machine
/// only: anything else is kInvalidArgument. After a 401 the token is fetched again; if it is a
/// different one, the request is repeated once.
std::unique_ptr<http::Transport> MakeAuthTransport(std::unique_ptr<http::Transport> inner,
                                                   Identity identity);

}  // namespace jobman::auth
