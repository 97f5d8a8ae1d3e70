#pragma once

#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "sim/wire/json.hpp"

namespace jobman::sim {

/// Scheduled events. It has no clock: Advance gets the time.
class Timeline {
 public:
  /// `due` is when the event was due, which may be before the time given to Advance.
  using Event = std::function<void(TimePoint due)>;

  /// Events due at the same time run in the order they were added.
  void At(TimePoint due, Event event) { events_.emplace(due, std::move(event)); }
  /// Runs everything due by `now`, also events added meanwhile.
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
