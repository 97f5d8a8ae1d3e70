#pragma once

#include <memory>

#include "jobman/http/transport.hpp"

namespace jobman::http {

/// Replaces the token of a request's Authorization by "[redacted]" wherever its response repeats
/// it: in a Location, an error message, anywhere. As it is, in hexadecimal or in base64, with any
/// of its characters escaped as in URLs, JSON or HTML. So it reaches no log, no store and no
/// screen, whatever it looks like.
std::unique_ptr<Transport> MakeRedactingTransport(std::unique_ptr<Transport> inner);

}  // namespace jobman::http
