#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "sim/faults/acts.hpp"
#include "sim/wire/request.hpp"

namespace jobman::sim {

/// A verb with its arguments: POST /sim/VERB with this body.
struct Order {
  std::string verb = {};
  Json body = Json::object();
};

/// Executes orders, at once or at the times of a script, and records them.
class Orders {
 public:
  explicit Orders(Targets targets) : targets_(std::move(targets)) {}
  Orders(const Orders&) = delete;
  Orders& operator=(const Orders&) = delete;

  /// Called to make the API unreachable for a time.
  void OnUnplug(std::function<void(Duration)> unplug) { targets_.unplug = std::move(unplug); }
  /// Executes an order and records it as an event. `line` is the line of a script, or empty.
  Reply Obey(const Order& order, const std::string& line, TimePoint now);
  /// {"lines": [{"after": "5s", "order": VERB, "body": {..}, "line": TEXT}, ..]}: orders to be
  /// executed later.
  Reply Script(const Json& body, TimePoint now);
  /// The latest events after number `since`, and how many lines of scripts are to come.
  Json Events(std::int64_t since) const;
  std::int64_t LinesToCome() const { return targets_.lines_to_come; }

 private:
  Targets targets_;
  std::deque<Json> events_ = {};
  std::int64_t event_count_ = 0;
};

/// An error of the simulator's own paths as a reply.
Reply Refused(const base::Error& error);

}  // namespace jobman::sim
