#pragma once

#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "sim/wire/json.hpp"

namespace jobman::sim {

/// What happens later. It has no clock: the time is what Advance is told.
class Timeline {
 public:
  /// `due` is when it was to happen, which may be before the time that Advance was told.
  using Event = std::function<void(TimePoint due)>;

  /// Events due at the same time happen in the order they were added.
  void At(TimePoint due, Event event) { events_.emplace(due, std::move(event)); }
  /// Runs everything that is due by `now`, also what those events add.
  void Advance(TimePoint now) {
    while (!events_.empty() && events_.begin()->first <= now) {
      auto next = events_.extract(events_.begin());
      next.mapped()(next.key());
    }
  }
  std::optional<TimePoint> NextDue() const {
    if (events_.empty()) return std::nullopt;
    return events_.begin()->first;
  }

 private:
  std::multimap<TimePoint, Event> events_;
};

}  // namespace jobman::sim
