#include "sim/service/request_quota.hpp"

#include "jobman/base/strings.hpp"

namespace jobman::sim {

std::string RequestQuota::Take(const std::map<std::string, std::int64_t>& limits,
                               const std::string& project, const std::string& method,
                               TimePoint now) {
  const auto minute = std::chrono::floor<std::chrono::minutes>(now.time_since_epoch());
  if (minute != minute_) taken_.clear();
  minute_ = minute;
  const std::string path = base::ReplaceAll(method, ".", "/");
  std::string exceeded;
  for (const auto& [pattern, limit] : limits) {
    if (!base::GlobMatch(pattern, path)) continue;
    std::int64_t& taken = taken_[project + " " + pattern];
    if (taken >= limit) {
      exceeded = pattern;
    } else {
      ++taken;
    }
  }
  return exceeded;
}

}  // namespace jobman::sim
