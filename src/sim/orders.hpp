#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/faults.hpp"
#include "sim/nodes.hpp"
#include "sim/queued.hpp"
#include "sim/settings.hpp"
#include "sim/timeline.hpp"
#include "sim/wire.hpp"

namespace jobman::sim {

/// What orders may change. Everything outlives them.
struct OrderParts {
  Settings& settings;
  Timeline& timeline;
  Nodes& nodes;
  QueuedResources& queued;
  Faults& faults;
};

/// What is done to the world from outside: POST /sim/NAME with a body, the commands of jobman-sim
/// and the lines of scripts. An order that names several things does what it can, and its reply is
/// the first refusal.
class Orders {
 public:
  explicit Orders(OrderParts parts) : parts_(parts) {}

  /// Called when the API shall not be reachable for a time.
  void OnUnplug(std::function<void(Duration)> unplug) { unplug_ = std::move(unplug); }
  /// Does it, and notes it down as an event. `line` is what a script says, or empty.
  Reply Obey(const std::string& name, const Json& body, const std::string& line, TimePoint now);
  /// The last orders that were obeyed, those after number `since`, and how many lines of scripts
  /// are still to come.
  Json Events(std::int64_t since) const;
  std::int64_t ToCome() const { return to_come_; }

 private:
  using Order = Reply (Orders::*)(const Json& body, TimePoint now);
  static const std::map<std::string, Order>& All();

  Reply Preempt(const Json& body, TimePoint now);
  Reply Maintain(const Json& body, TimePoint now);
  Reply Repair(const Json& body, TimePoint now);
  Reply Terminate(const Json& body, TimePoint now);
  Reply Stop(const Json& body, TimePoint now);
  Reply Start(const Json& body, TimePoint now);
  Reply Delete(const Json& body, TimePoint now);
  Reply Fail(const Json& body, TimePoint now);
  Reply Host(const Json& body, TimePoint now);
  Reply ShowNode(const Json& body, TimePoint now);
  Reply Stockout(const Json& body, TimePoint now);
  Reply Unplug(const Json& body, TimePoint now);
  Reply Calm(const Json& body, TimePoint now);
  Reply AddFault(const Json& body, TimePoint now);
  Reply ChangeSettings(const Json& body, TimePoint now);
  Reply Script(const Json& body, TimePoint now);

  /// The nodes of a name: the full one, an id that is unique, or ids with * and ?.
  std::vector<ResourceKey> NodesNamed(const std::string& name) const;
  QueuedResource* QueuedNamed(const std::string& name);
  using NodeAct = std::function<base::Status(Node& node)>;
  /// Does something to each node that `body` names.
  Reply EachNode(const Json& body, const NodeAct& act);
  /// Runs `event` at `due` unless the node is gone by then, or the world was calmed.
  void At(TimePoint due, const Node& node, std::function<void(Node&, TimePoint)> event);

  struct Preemption {
    std::optional<NodeState> via = {};  ///< shown first
    Duration time{0};                   ///< for how long
    bool gone = false;                  ///< no record stays
    bool silent = false;                ///< no connection ends, for `time`
    Duration notice{0};                 ///< the machines are told so long before
  };
  static base::Result<Preemption> PreemptionOf(const Json& body);
  void TakeAway(Node& node, const Preemption& how, TimePoint now);
  Reply PreemptQueued(const std::string& name, const Preemption& how, TimePoint now);
  void ActOnHost(Node& node, std::size_t index, const std::string& action, TimePoint now);

  OrderParts parts_;
  std::function<void(Duration)> unplug_ = [](Duration) {};
  std::int64_t calms_ = 0;  ///< what was to come before the last one does not come
  std::int64_t to_come_ = 0;
  std::deque<Json> events_ = {};
  std::int64_t event_count_ = 0;
};

// For the parts of Orders.

Reply Refused(const base::Error& error);
Reply NoSuch(const std::string& what, const std::string& name);
/// The duration in `body` by this name ("5s"), or `fallback` where there is none.
base::Result<Duration> DurationIn(const Json& body, const std::string& name, Duration fallback);

}  // namespace jobman::sim
