#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/cloud/node_registry.hpp"

namespace jobman::sim {

/// QueuedResourceState.State of the API.
enum class QueuedState {
  kCreating,
  kWaiting,  ///< WAITING_FOR_RESOURCES, or ACCEPTED by the setting guesses.queue_state
  kProvisioning,
  kActive,
  kSuspending,
  kSuspended,
  kFailed,
  kDeleting,
};

struct QueuedResource {
  ResourceKey key = {};
  Json body = Json::object();        ///< the user's fields, nodeSpec expanded
  std::vector<NodePlan> nodes = {};  ///< what to create
  core::Accelerator shape = {};      ///< of each node
  bool spot = false;
  std::string version = {};
  TimePoint created = {};
  std::uint64_t order = 0;  ///< place in the queue; never reused
  QueuedState state = QueuedState::kCreating;
  std::string initiator = {};  ///< "USER" or "SERVICE" where the state has one
  std::optional<ApiError> failure = {};
  bool stalled = false;     ///< never leaves the queue
  bool gives_up = false;    ///< FAILED after PROVISIONING
  bool foreign = false;     ///< made by the simulator as somebody else
  bool queue_over = false;  ///< the queue delay and validAfter have passed
  Operations::Key operation = {};
  /// Of a reset or of maintenance: ends when all nodes are READY and healthy.
  std::optional<Operations::Key> reset = {};
  int change = 0;  ///< counts states; events of an earlier one are ignored
};

/// All queued resources, and their state machine: they wait for capacity, hold their nodes, and
/// stay as SUSPENDED or FAILED until they are deleted.
///
/// resource_queue.cpp: the states; queued_resource.cpp: JSON.
class ResourceQueue {
 public:
  ResourceQueue(CloudContext context, NodeRegistry& nodes) : context_(context), nodes_(nodes) {}

  /// Reads the body of a request and checks it against the catalogue. The caller sets `into.key`
  /// and `into.version`.
  std::optional<ApiError> Parse(const Json& body, QueuedResource& into) const;
  Operations::Key Create(QueuedResource queued, TimePoint now);
  Reply Delete(QueuedResource& queued, bool force, const std::string& version, TimePoint now);
  Reply Reset(QueuedResource& queued, const std::string& version, TimePoint now);

  Reply PerformMaintenance(QueuedResource& queued, const Json& body, const std::string& version,
                           TimePoint now);

  /// FAILED, as when the service gives up; its nodes are removed.
  void Fail(QueuedResource& queued, const ApiError& error, TimePoint now);
  /// The service takes the nodes back: SUSPENDING, then SUSPENDED.
  void Preempt(QueuedResource& queued, TimePoint now);
  /// FAILED because its valid-until time has passed.
  void Expire(QueuedResource& queued, TimePoint now);
  /// Lets stalled ones leave the queue.
  void Calm(TimePoint now);
  /// Advances whatever the states of nodes and the capacity allow.
  void Review(TimePoint now);

  QueuedResource* Find(const ResourceKey& key);
  const std::map<ResourceKey, QueuedResource>& all() const { return queued_; }
  std::map<ResourceKey, QueuedResource>& all() { return queued_; }
  /// The resource as GET shows it.
  Json Render(const QueuedResource& queued) const;

 private:
  Operations::Key Begin(const QueuedResource& queued, const char* verb, const std::string& version,
                        TimePoint now);
  void SetState(QueuedResource& queued, QueuedState state, std::string initiator);
  void Later(const QueuedResource& queued, TimePoint due,
             std::function<void(QueuedResource&, TimePoint)> event);
  void Enqueue(QueuedResource& queued, TimePoint now);
  void Provision(QueuedResource& queued, TimePoint now);
  void Activate(QueuedResource& queued, TimePoint now);
  /// The run duration is over: its nodes are deleted, and it ends SUSPENDED.
  void RunOut(QueuedResource& queued, TimePoint now);
  void GiveUp(QueuedResource& queued, TimePoint now);
  void Suspend(QueuedResource& queued, const char* initiator, TimePoint now);
  void ReviewWaiting(TimePoint now);
  void ReviewNodes(QueuedResource& queued, TimePoint now);
  void EraseNodes(const QueuedResource& queued, TimePoint now);
  std::string StateName(QueuedState state) const;
  Json Response(const QueuedResource& queued) const;

  CloudContext context_;
  NodeRegistry& nodes_;
  std::map<ResourceKey, QueuedResource> queued_ = {};
  std::uint64_t count_ = 0;
  bool reviewing_ = false;
  bool review_again_ = false;
};

}  // namespace jobman::sim
