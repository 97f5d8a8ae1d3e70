#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "jobman/ports/slice_api.hpp"
#include "tests/property/odds.hpp"
#include "tests/support/fake_clock.hpp"

namespace jobman::test {

/// A Cloud TPU in memory with random faults until EndFaults(): calls are refused, lost, delayed or
/// lose their answers; slices are preempted, maintained, repaired and deleted by others. Single
/// nodes and multislices, with queued resources and without.
class FaultyCloud final : public ports::SliceApi {
 public:
  using Labels = std::map<std::string, std::string>;
  template <class T>
  using Answer = base::Task<base::Result<T>>;

  FaultyCloud(Random& random, const Odds& odds, const FakeClock& clock)
      : random_(random), odds_(odds), clock_(clock) {}

  Answer<core::OperationSeen> Create(core::SliceRequest request) override;
  Answer<core::OperationSeen> Delete(core::SliceRef ref) override;
  Answer<std::vector<core::NodeSeen>> ListNodes(core::Place place) override;
  Answer<std::vector<core::QueuedSeen>> ListQueued(core::Place place) override;
  Answer<core::NodeSeen> GetNode(core::Place place, std::string id) override;
  Answer<core::QueuedSeen> GetQueued(core::Place place, std::string id) override;
  Answer<core::OperationSeen> GetOperation(std::string name) override;
  Answer<core::OperationSeen> AddLogin(core::Place place, std::string node,
                                       std::string line) override;
  Answer<core::OperationSeen> ChangeLogins(core::Place place, std::string node,
                                           core::LoginChange change) override;
  Answer<std::vector<core::HostKeys>> GetHostKeys(core::Place place, std::string node) override;

  // Control.

  /// Delayed requests arrive, and no more faults occur.
  void EndFaults();
  /// Enables refusals that waiting does not cure.
  void AllowPermanentErrors() { permanent_errors_ = true; }
  void SetReachable(bool reachable) { reachable_ = reachable; }
  /// Calls about that zone do not arrive; empty: no such zone.
  void SetSilentZone(std::string zone) { silent_zone_ = std::move(zone); }
  /// Carries out what is due. To be called whenever time has passed.
  void Settle();
  /// A random fault of a random slice; returns a description.
  std::string HarmOne();
  /// Adds somebody else's slice, with these labels.
  void AddForeign(const core::SliceRef& ref, Labels labels);
  /// Called when a delete arrives, with the labels of its target.
  void OnDelete(std::function<void(const std::string& name, const Labels& labels)> hook) {
    on_delete_ = std::move(hook);
  }

  // State.

  /// "<node uid>/<host>" of the machine with that external address, if it is up.
  std::optional<std::string> MachineAt(const std::string& address) const;
  /// The number of its boots; 0 while it is down or gone.
  int BootOf(const std::string& machine) const;
  /// Whether all nodes of the slice are READY and never had a fault.
  bool IsUnharmed(const core::SliceRef& ref) const;
  /// Whether any part of the slice is ours, visible, and not being deleted.
  bool Holds(const core::SliceRef& ref) const;
  /// Names of resources with labels of our store; `foreign`: of all others.
  std::vector<std::string> Names(bool foreign) const;
  bool reachable() const { return reachable_; }
  int requests() const { return requests_; }

 private:
  using Key = std::pair<std::string, std::string>;  ///< zone, name
  struct Life {
    base::TimePoint visible_at = {};
    base::TimePoint next_at = base::TimePoint::max();  ///< of its next step
    std::optional<base::TimePoint> gone_at = {};       ///< it is being deleted
  };
  struct Node {
    core::NodeSeen seen = {};
    Life life = {};
    int boot = 1;
    bool harmed = false;
    std::string operation = {};
  };
  struct Queued {
    core::QueuedSeen seen = {};
    Life life = {};
    core::SliceRequest request = {};
    bool harmed = false;  ///< it had a fault
  };
  struct Delayed {
    core::SliceRequest request = {};
    base::TimePoint at = {};
  };

  template <class T>
  Answer<T> Call(std::string zone, std::function<base::Result<T>()> work);
  base::Result<core::OperationSeen> DoCreate(const core::SliceRequest& request);
  base::Result<core::OperationSeen> DoDelete(const core::SliceRef& ref);
  std::optional<base::Error> Refusal();
  bool ListingOmits();
  std::string Arrive(const core::SliceRequest& request);
  void StartNode(const Key& key, const core::SliceRequest& request, const std::string& queued);
  void Progress(Node& node);
  void Progress(const Key& key, Queued& queued);
  std::string HarmNode(Node& node);
  std::string HarmQueued(Queued& queued);
  void EndQueued(const std::string& zone, const std::string& name, core::QueuedState state);
  void Leave(Life& life);
  std::vector<Node*> NodesOf(const Key& queued);
  base::TimePoint Within(int most);
  bool Visible(const Life& life) const { return life.visible_at <= clock_.Now(); }

  Random& random_;
  const Odds& odds_;
  const FakeClock& clock_;
  bool faultless_ = false;
  bool permanent_errors_ = false;
  bool reachable_ = true;
  std::string silent_zone_ = {};
  int requests_ = 0;
  int next_number_ = 1;
  std::map<Key, Node> nodes_ = {};
  std::map<Key, Queued> queued_ = {};
  std::map<std::string, core::OperationSeen> operations_ = {};
  std::vector<Delayed> delayed_ = {};
  int omissions_ = 0;        ///< so many listings to come may omit what exists
  std::set<Key> used_ = {};  ///< names that were deleted
  std::function<void(const std::string&, const Labels&)> on_delete_ = {};
};

}  // namespace jobman::test
