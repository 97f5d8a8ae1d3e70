#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "jobman/base/result.hpp"
#include "sim/cloud/node_registry.hpp"
#include "sim/cloud/resource_queue.hpp"
#include "sim/faults/call_faults.hpp"

namespace jobman::sim {

/// What verbs act on. The references outlive it.
struct Targets {
  Settings& settings;
  Timeline& timeline;
  NodeRegistry& nodes;
  ResourceQueue& queued;
  CallFaults& faults;
  /// Makes the API unreachable for a time.
  std::function<void(Duration)> unplug = [](Duration) {};
  std::int64_t calms = 0;          ///< counts `calm`: events scheduled before it are dropped
  std::int64_t lines_to_come = 0;  ///< lines of scripts still to come

  /// The nodes that match a name: a full name, a unique id, or a pattern of ids with * and ?.
  std::vector<ResourceKey> NodesNamed(const std::string& name) const;
  /// Null if there is none.
  QueuedResource* QueuedNamed(const std::string& name) const;
  /// Applies `act` to each node that `body` names. Goes on after a refusal and returns the first
  /// one.
  base::Result<Json> EachNode(const Json& body,
                              const std::function<base::Status(Node& node)>& act) const;
  /// Runs `event` at `due` unless the node is gone by then, or `calm` came before.
  void At(TimePoint due, const Node& node, std::function<void(Node&, TimePoint)> event);
};

/// kNotFound for a name that does not exist or is not unique.
base::Error NoSuch(const std::string& what, const std::string& name);
/// The duration of this name in `body` ("5s"), or `fallback`.
base::Result<Duration> DurationIn(const Json& body, const std::string& name, Duration fallback);

/// The acts of the verbs; see the table in verbs.cpp.
namespace acts {

/// What `preempt --as` takes.
const std::vector<std::string>& Ways();
/// What `host` does.
const std::vector<std::string>& HostActions();

// slice_acts.cpp: on nodes and queued resources.
base::Result<Json> Preempt(Targets& targets, const Json& body, TimePoint now);
base::Result<Json> Maintain(Targets& targets, const Json& body, TimePoint now);
base::Result<Json> Repair(Targets& targets, const Json& body, TimePoint now);
base::Result<Json> Reboot(Targets& targets, const Json& body, TimePoint now);
base::Result<Json> Terminate(Targets& targets, const Json& body, TimePoint now);
base::Result<Json> Stop(Targets& targets, const Json& body, TimePoint now);
base::Result<Json> Start(Targets& targets, const Json& body, TimePoint now);
base::Result<Json> Delete(Targets& targets, const Json& body, TimePoint now);
base::Result<Json> Fail(Targets& targets, const Json& body, TimePoint now);
base::Result<Json> Show(Targets& targets, const Json& body, TimePoint now);

// host_acts.cpp: on hosts.
base::Result<Json> Host(Targets& targets, const Json& body, TimePoint now);

// service_acts.cpp: on the service as a whole.
base::Result<Json> Fault(Targets& targets, const Json& body, TimePoint now);
base::Result<Json> Stockout(Targets& targets, const Json& body, TimePoint now);
base::Result<Json> Unplug(Targets& targets, const Json& body, TimePoint now);
base::Result<Json> Set(Targets& targets, const Json& body, TimePoint now);
base::Result<Json> Calm(Targets& targets, const Json& body, TimePoint now);

}  // namespace acts

}  // namespace jobman::sim
