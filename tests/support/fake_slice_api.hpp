#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "jobman/ports/slice_api.hpp"
#include "tests/support/fake_clock.hpp"

namespace jobman::test {

using base::Duration;
using base::TimePoint;

/// A failure: the next `times` calls of the method `call` ("Create", "ListNodes", ..., or "*") end
/// with `error`. With `reply_lost` the call does its work first, as if its answer were lost.
struct Fault {
  std::string call = "*";
  base::Error error = {};
  int times = 1;
  bool reply_lost = false;
};

/// A small working Cloud TPU in memory, driven by a FakeClock. States that are due change when the
/// next call is made. Not thread-safe; every call yields to the loop once.
class FakeSliceApi : public ports::SliceApi, public ports::Catalog, public ports::Maintenance {
 public:
  struct Settings {
    Duration queue = {};      ///< how long a queued resource waits before it is provisioned
    Duration provision = {};  ///< how long a node is CREATING
    Duration remove = {};     ///< how long a deletion takes
    /// Zone -> the accelerator types it offers; an empty list offers everything.
    std::map<std::string, std::vector<std::string>> zones = {{"us-central2-b", {}},
                                                             {"europe-west4-a", {}}};
    std::vector<std::string> runtimes = {"tpu-ubuntu2204-base"};
    /// Zone -> what reservations.list shows.
    std::map<std::string, std::vector<core::ReservationSeen>> reservations = {};
  };

  explicit FakeSliceApi(const FakeClock& clock);
  FakeSliceApi(const FakeClock& clock, Settings settings);

  base::Task<base::Result<core::OperationSeen>> Create(core::SliceRequest request) override;
  base::Task<base::Result<core::OperationSeen>> Delete(core::SliceRef ref) override;
  base::Task<base::Result<std::vector<core::NodeSeen>>> ListNodes(core::Place place) override;
  base::Task<base::Result<std::vector<core::QueuedSeen>>> ListQueued(core::Place place) override;
  base::Task<base::Result<core::NodeSeen>> GetNode(core::Place place, std::string id) override;
  base::Task<base::Result<core::QueuedSeen>> GetQueued(core::Place place, std::string id) override;
  base::Task<base::Result<core::OperationSeen>> GetOperation(std::string name) override;
  base::Task<base::Result<core::OperationSeen>> AddLogin(core::Place place, std::string node,
                                                         std::string line) override;
  base::Task<base::Result<core::OperationSeen>> ChangeLogins(core::Place place, std::string node,
                                                             core::LoginChange change) override;
  base::Task<base::Result<std::vector<core::HostKeys>>> GetHostKeys(core::Place place,
                                                                    std::string node) override;
  base::Task<base::Result<std::vector<std::string>>> AcceleratorTypes(core::Place place) override;
  base::Task<base::Result<std::vector<std::string>>> Zones(std::string project) override;
  base::Task<base::Result<std::vector<std::string>>> RuntimeVersions(core::Place place) override;
  base::Task<base::Result<std::vector<core::ReservationSeen>>> Reservations(
      core::Place place) override;
  /// A node that has announced maintenance is well again at once.
  base::Task<base::Result<core::OperationSeen>> PerformMaintenance(core::Place place,
                                                                   std::string node) override;
  /// Does not ask whether the nodes are of that queued resource.
  base::Task<base::Result<core::OperationSeen>> PerformQueuedMaintenance(
      core::Place place, std::string queued, std::vector<std::string> nodes) override;

  // For tests to change the cloud.

  /// Faults occur in the order they were added.
  void AddFault(Fault fault);
  void ForgetFaults() { faults_.clear(); }
  /// While not `reachable`, every call fails with "connection refused".
  void SetReachable(bool reachable) { reachable_ = reachable; }
  /// How many more slices of that type a zone has; unlimited without a call.
  void SetStock(const std::string& zone, const std::string& type, int slices);
  /// The service takes the slice away: node PREEMPTED, its queued resource SUSPENDED by SERVICE.
  void Preempt(const std::string& name);
  /// Fixes the state of a node.
  void SetNodeState(const std::string& name, core::NodeState state);
  /// The queued resource becomes FAILED with this error; its node, if any, is gone.
  void FailQueued(const std::string& name, base::Error error);
  /// The node is gone without a trace, as after a deletion by hand.
  void LoseNode(const std::string& name);
  /// New addresses and boot for the same node, as after maintenance.
  void MoveNode(const std::string& name);
  /// Sets `upcomingMaintenance` of a node; nothing removes it.
  void Announce(const std::string& name, std::optional<core::Notice> notice);
  /// Adds a host key to the guest attributes of a host.
  void PublishHostKey(const std::string& node, int host, const std::string& type,
                      const std::string& key);

  /// Another reservation of the zone.
  void AddReservation(const std::string& zone, core::ReservationSeen reservation);

  // For tests to check.

  /// "Create train-1-a1", "ListNodes us-central2-b", in order; failed calls too.
  const std::vector<std::string>& calls() const { return calls_; }
  int CountCalls(const std::string& method) const;
  /// The requests of successful creates, in order.
  const std::vector<core::SliceRequest>& created() const { return created_; }
  /// The lines that AddLogin() and ChangeLogins() left on the node, without those of its create.
  const std::vector<std::string>& LoginsOf(const std::string& node) { return logins_[node]; }
  /// Called once, when a change of logins has been asked for, right before it is made.
  std::function<void()> before_change_of_logins = {};
  /// Adds a node that nobody of ours created.
  void AddNode(core::NodeSeen node);
  /// What still exists and holds quota: "node us-central2-b/train-1-a1", ...
  std::vector<std::string> Leftovers();

 private:
  using Key = std::pair<std::string, std::string>;  ///< zone, name
  struct Node {
    core::NodeSeen seen = {};
    TimePoint ready_at = {};
    std::optional<TimePoint> gone_at = {};
    bool pinned = false;  ///< by SetNodeState()
    bool holds_stock = false;
  };
  struct Queued {
    core::QueuedSeen seen = {};
    core::SliceRequest request = {};
    TimePoint granted_at = {};
    std::optional<TimePoint> gone_at = {};
  };
  struct Operation {
    core::OperationSeen seen = {};
    enum class Waits { kNothing, kNodeReady, kGone } waits = Waits::kNothing;
    Key key = {};
  };

  /// One call: records it, yields, applies faults, does the work.
  template <class T>
  base::Task<base::Result<T>> Call(std::string method, std::string subject,
                                   std::function<base::Result<T>()> work);
  /// Takes the first fault for this method.
  std::optional<Fault> NextFault(const std::string& method);
  void Settle();
  void SettleQueued(const Key& key, Queued& queued);
  void SettleNode(Node& node);
  void SettleOperation(Operation& operation);
  void Start(const core::SliceRequest& request, bool from_queue);
  void Release(Node& node);
  bool TakeStock(const Key& zone_and_type);
  void EraseNode(const Key& key);
  base::Status CheckRequest(const core::SliceRequest& request) const;
  core::OperationSeen NewOperation(const core::Place& place, Operation::Waits waits, Key key);
  core::OperationSeen CreateQueued(const core::SliceRequest& request);
  core::OperationSeen CreateNode(const core::SliceRequest& request);
  base::Result<core::OperationSeen> DoDelete(const core::SliceRef& ref);
  base::Status CheckMaintenance(const core::Place& place, const std::string& node) const;
  base::Status CheckZone(const std::string& zone) const;

  const FakeClock& clock_;
  Settings settings_ = {};
  bool reachable_ = true;
  int next_number_ = 1;
  std::map<Key, Node> nodes_ = {};
  std::map<Key, Queued> queued_ = {};
  std::map<std::string, Operation> operations_ = {};
  std::map<Key, int> stock_ = {};
  std::map<std::string, std::map<int, core::HostKeys>> host_keys_ = {};
  std::map<std::string, std::vector<std::string>> logins_ = {};
  std::vector<Fault> faults_ = {};
  std::vector<std::string> calls_ = {};
  std::vector<core::SliceRequest> created_ = {};
};

/// An open_cloud that succeeds at once.
inline base::Task<base::Result<std::shared_ptr<ports::SliceApi>>> OpenAs(
    std::shared_ptr<ports::SliceApi> api) {
  co_return api;
}

}  // namespace jobman::test
