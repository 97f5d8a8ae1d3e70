#pragma once

#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "sim/wire.hpp"

namespace jobman::sim {

/// What will happen later in the simulated world. It has no clock: time is what Advance says.
class Timeline {
 public:
  /// The argument is the time the event was due, not the time it was noticed.
  using Event = std::function<void(TimePoint due)>;

  /// Events due at the same time happen in the order they were added.
  void At(TimePoint due, Event event) { events_.emplace(due, std::move(event)); }
  /// Lets everything happen that is due by `now`, also what those events add.
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
