#include "jobman/base/env.hpp"

#include <cstdlib>

namespace jobman::base {

std::optional<std::string> GetEnv(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  if (value == nullptr || *value == '\0') return std::nullopt;
  return std::string(value);
}

}  // namespace jobman::base
