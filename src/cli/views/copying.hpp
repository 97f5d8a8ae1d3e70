#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>

#include "jobman/base/time.hpp"
#include "jobman/client/copy.hpp"

namespace jobman::cli::views {

/// How fast something grew in the last seconds.
class RecentRate {
 public:
  using Time = std::chrono::steady_clock::time_point;
  /// How much there was at this time, not before that of the last call. What shrank began anew.
  void Add(Time now, std::int64_t bytes);
  /// Bytes per second; 0 when nothing is known.
  double PerSecond() const;

 private:
  std::deque<std::pair<Time, std::int64_t>> seen_ = {};
};

/// "1023 of 1024 hosts, 3.1 GB of 10 GB, 120 MB/s, 58s left; waiting 1m20s for host 17": the line
/// on a terminal while a copy runs. Empty when no host is awaited.
std::string CopyingText(const client::CopyState& state, double rate, base::Duration past);

}  // namespace jobman::cli::views
