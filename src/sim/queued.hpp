#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/errors.hpp"
#include "sim/nodes.hpp"

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
  std::uint64_t order = 0;  ///< place in the queue
  QueuedState state = QueuedState::kCreating;
  std::string initiator = {};  ///< "USER" or "SERVICE" where the state has one
  std::optional<ApiError> failure = {};
  bool stalled = false;     ///< never leaves the queue
  bool gives_up = false;    ///< FAILED after PROVISIONING
  bool foreign = false;     ///< nobody asked for it
  bool queue_over = false;  ///< the queue delay and validAfter have passed
  Operations::Key operation = {};
  std::optional<Operations::Key> reset = {};
  int change = 0;  ///< counts states: an event of an older one is ignored
};

/// The queue: requests that wait for capacity, the nodes they got, and the husks they leave.
class QueuedResources {
 public:
  QueuedResources(Context context, Nodes& nodes) : context_(context), nodes_(nodes) {}

  /// Takes a request's body apart and checks it against the catalogue; `key` is its name.
  static std::optional<ApiError> Parse(const Json& body, QueuedResource& into);
  Operations::Key Create(QueuedResource queued, TimePoint now);
  Reply Delete(QueuedResource& queued, bool force, const std::string& version, TimePoint now);
  Reply Reset(QueuedResource& queued, const std::string& version, TimePoint now);

  /// Ends it as FAILED, as the service does when it gives up; its nodes go.
  void Fail(QueuedResource& queued, const ApiError& error, TimePoint now);
  /// The service takes the nodes back: SUSPENDING, then SUSPENDED.
  void Preempt(QueuedResource& queued, TimePoint now);
  /// Ends it as FAILED because its valid-until time has passed.
  void Expire(QueuedResource& queued, TimePoint now);
  /// What never left the queue may.
  void Calm(TimePoint now);
  /// Moves on whatever the states of nodes and the free capacity allow.
  void Review(TimePoint now);

  QueuedResource* Find(const ResourceKey& key);
  const std::map<ResourceKey, QueuedResource>& all() const { return queued_; }
  std::map<ResourceKey, QueuedResource>& all() { return queued_; }
  /// The resource as GET shows it.
  Json Render(const QueuedResource& queued) const;

 private:
  void SetState(QueuedResource& queued, QueuedState state, std::string initiator);
  void Later(const QueuedResource& queued, TimePoint due,
             std::function<void(QueuedResource&, TimePoint)> event);
  void Enqueue(QueuedResource& queued, TimePoint now);
  void Provision(QueuedResource& queued, TimePoint now);
  void GiveUp(QueuedResource& queued, TimePoint now);
  void Suspend(QueuedResource& queued, const char* initiator, TimePoint now);
  void ReviewWaiting(TimePoint now);
  void ReviewNodes(QueuedResource& queued, TimePoint now);
  void EraseNodes(const QueuedResource& queued, TimePoint now);
  std::string StateName(QueuedState state) const;
  Json Response(const QueuedResource& queued) const;

  Context context_;
  Nodes& nodes_;
  std::map<ResourceKey, QueuedResource> queued_ = {};
  std::uint64_t count_ = 0;
  bool reviewing_ = false;
  bool review_again_ = false;
};

}  // namespace jobman::sim
