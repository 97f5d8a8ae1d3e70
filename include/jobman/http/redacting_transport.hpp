#pragma once

#include <memory>

#include "jobman/http/transport.hpp"

namespace jobman::http {

/// Replaces the token of a request's Authorization by "[redacted]" wherever its response repeats
/// it: in a Location, an error message, anywhere. As it is, percent-encoded, with JSON's \/, in
/// base64. So it reaches no log, no store and no screen, whatever it looks like.
std::unique_ptr<Transport> MakeRedactingTransport(std::unique_ptr<Transport> inner);

}  // namespace jobman::http
