#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "sim/wire/json.hpp"

namespace jobman::sim {

/// Requests per minute of a project, as Google's APIs count them: in whole minutes.
class RequestQuota {
 public:
  /// Counts a request that falls under `limits` ("nodes/delete", with * and ?, to the number a
  /// minute). The pattern whose limit is exceeded; empty if none is.
  std::string Take(const std::map<std::string, std::int64_t>& limits, const std::string& project,
                   const std::string& method, TimePoint now);

 private:
  std::chrono::minutes minute_{0};
  std::map<std::string, std::int64_t> taken_ = {};  ///< in this minute, by project and pattern
};

}  // namespace jobman::sim
