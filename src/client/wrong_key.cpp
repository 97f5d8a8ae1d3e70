#include "client/wrong_key.hpp"

#include <utility>

namespace jobman::client {

config::Problem PlaceOf(const config::Loaded& loaded, const std::string& key) {
  const auto found = loaded.places.find(key);
  return found == loaded.places.end() ? config::Problem() : found->second;
}

base::Error WrongKey(config::Problem place, std::string message, std::string hint,
                     base::Reason reason) {
  place.message = std::move(message);
  place.hint = std::move(hint);
  base::Error error = config::ToError({place});
  error.reason = reason;
  return error;
}

}  // namespace jobman::client
