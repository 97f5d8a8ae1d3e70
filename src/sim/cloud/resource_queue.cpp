#include "sim/cloud/resource_queue.hpp"

#include <algorithm>
#include <array>
#include <set>

namespace jobman::sim {

namespace {

constexpr std::array kDeadlineFields = {"validUntilTime", "validUntilDuration"};
constexpr std::array kAfterFields = {"validAfterTime", "validAfterDuration"};

std::optional<TimePoint> TimeOf(const Json& value) {
  const auto time = value.is_string() ? base::ParseRfc3339(value.get<std::string>())
                                      : base::Result<TimePoint>(base::InvalidArgument("no time"));
  return time.ok() ? std::optional(*time) : std::nullopt;
}

/// A limit of queueingPolicy: an absolute time, or a duration from `now`.
std::optional<TimePoint> Bound(const Json& policy, const std::array<const char*, 2>& fields,
                               const char* interval_end, TimePoint now) {
  if (const auto time = TimeOf(Member(policy, fields[0]))) return time;
  if (const std::string text = Text(policy, fields[1]); !text.empty()) {
    if (const auto duration = base::ParseDuration(text); duration.ok()) return now + *duration;
  }
  return TimeOf(Member(Member(policy, "validInterval"), interval_end));
}

/// When the run duration of a queued resource ends that becomes ACTIVE now. That it counts from
/// there is a guess.
std::optional<TimePoint> EndOf(const Json& run_duration, TimePoint now) {
  if (const auto time = TimeOf(Member(run_duration, "terminationTime"))) return time;
  const auto most = base::ParseDuration(Text(run_duration, "maxRunDuration"));
  return most.ok() ? std::optional(now + *most) : std::nullopt;
}

ApiError ExpiredError() {
  return {.code = base::Code::kDeadlineExceeded,
          .message = "The queued resource could not be provisioned before its valid-until time."};
}

bool HasNodes(QueuedState state) {
  return state == QueuedState::kProvisioning || state == QueuedState::kActive ||
         state == QueuedState::kSuspending;
}

}  // namespace

QueuedResource* ResourceQueue::Find(const ResourceKey& key) {
  const auto found = queued_.find(key);
  return found == queued_.end() ? nullptr : &found->second;
}

void ResourceQueue::Later(const QueuedResource& queued, TimePoint due,
                          std::function<void(QueuedResource&, TimePoint)> event) {
  const auto guarded = [this, key = queued.key, order = queued.order, change = queued.change,
                        event = std::move(event)](TimePoint at) {
    QueuedResource* found = Find(key);
    if (found != nullptr && found->order == order && found->change == change) event(*found, at);
  };
  context_.timeline.At(due, guarded);
}

void ResourceQueue::SetState(QueuedResource& queued, QueuedState state, std::string initiator) {
  ++queued.change;
  queued.state = state;
  queued.initiator = std::move(initiator);
}

Operations::Key ResourceQueue::Begin(const QueuedResource& queued, const char* verb,
                                     const std::string& version, TimePoint now) {
  return context_.operations.Begin({.where = queued.key,
                                    .verb = verb,
                                    .target = ResourceName(queued.key, "queuedResources"),
                                    .version = version,
                                    .metadata = context_.settings.guesses.operation_metadata},
                                   now);
}

Operations::Key ResourceQueue::Create(QueuedResource request, TimePoint now) {
  request.created = now;
  request.order = ++count_;
  request.operation = Begin(request, "create", request.version, now);
  const ResourceKey key = request.key;
  QueuedResource& queued = queued_[key] = std::move(request);
  Later(queued, now + context_.settings.delays.accept,
        [this](QueuedResource& accepted, TimePoint due) { Enqueue(accepted, due); });
  return queued.operation;
}

void ResourceQueue::Enqueue(QueuedResource& queued, TimePoint now) {
  if (queued.failure) return Fail(queued, *queued.failure, now);
  SetState(queued, QueuedState::kWaiting, "SERVICE");
  context_.operations.Succeed(queued.operation, Response(queued), now);

  const Json& policy = Member(queued.body, "queueingPolicy");
  const TimePoint earliest = now + context_.settings.delays.queue;
  const TimePoint from =
      Bound(policy, kAfterFields, "startTime", queued.created).value_or(earliest);
  if (const auto until = Bound(policy, kDeadlineFields, "endTime", queued.created)) {
    Later(queued, *until, [this](QueuedResource& late, TimePoint due) { Expire(late, due); });
  }
  Later(queued, std::max(from, earliest), [this](QueuedResource& ready, TimePoint due) {
    ready.queue_over = true;
    Review(due);
  });
}

void ResourceQueue::Expire(QueuedResource& queued, TimePoint now) {
  Fail(queued, ExpiredError(), now);
}

void ResourceQueue::GiveUp(QueuedResource& queued, TimePoint now) {
  SetState(queued, QueuedState::kSuspending, "SERVICE");
  Later(queued, now + context_.settings.delays.suspend,
        [this](QueuedResource& suspended, TimePoint due) { Fail(suspended, OpaqueError(), due); });
}

void ResourceQueue::Calm(TimePoint now) {
  for (auto& [key, queued] : queued_) queued.stalled = queued.stalled && queued.foreign;
  Review(now);
}

void ResourceQueue::Provision(QueuedResource& queued, TimePoint now) {
  SetState(queued, QueuedState::kProvisioning, "SERVICE");
  if (queued.gives_up) {
    Later(queued, now + context_.settings.delays.provision,
          [this](QueuedResource& doomed, TimePoint due) { GiveUp(doomed, due); });
  }
  for (const NodePlan& plan : queued.nodes) {
    if (nodes_.Find(plan.key) != nullptr) {
      queued.failure = AlreadyExistsError(ResourceName(plan.key, "nodes"));
      return Fail(queued, *queued.failure, now);
    }
    nodes_.Add(plan, context_.settings.delays.provision, now);
  }
}

void ResourceQueue::Activate(QueuedResource& queued, TimePoint now) {
  SetState(queued, QueuedState::kActive, "SERVICE");
  const auto end = EndOf(Member(queued.body, "runDuration"), now);
  if (!end) return;
  for (const NodePlan& plan : queued.nodes) {
    if (Node* node = nodes_.Find(plan.key)) node->ends_at = end;
  }
  Later(queued, *end, [this](QueuedResource& lent, TimePoint due) { RunOut(lent, due); });
}

void ResourceQueue::RunOut(QueuedResource& queued, TimePoint now) {
  SetState(queued, QueuedState::kSuspending, "SERVICE");
  for (const NodePlan& plan : queued.nodes) {
    Node* node = nodes_.Find(plan.key);
    if (node != nullptr && node->queued == queued.key) nodes_.Remove(*node, now);
  }
  Later(queued, now + context_.settings.delays.suspend,
        [this](QueuedResource& suspended, TimePoint due) {
          SetState(suspended, QueuedState::kSuspended, suspended.initiator);
          EraseNodes(suspended, due);
        });
}

void ResourceQueue::EraseNodes(const QueuedResource& queued, TimePoint now) {
  for (const NodePlan& plan : queued.nodes) {
    const Node* node = nodes_.Find(plan.key);
    if (node != nullptr && node->queued == queued.key) nodes_.Erase(plan.key, now);
  }
}

void ResourceQueue::Fail(QueuedResource& queued, const ApiError& error, TimePoint now) {
  queued.failure = error;
  SetState(queued, QueuedState::kFailed, "SERVICE");
  context_.operations.Fail(queued.operation, error, now);
  EraseNodes(queued, now);
}

void ResourceQueue::Preempt(QueuedResource& queued, TimePoint now) {
  if (queued.state != QueuedState::kActive && queued.state != QueuedState::kProvisioning) return;
  Suspend(queued, "SERVICE", now);
}

void ResourceQueue::Suspend(QueuedResource& queued, const char* initiator, TimePoint now) {
  SetState(queued, QueuedState::kSuspending, initiator);
  for (const NodePlan& plan : queued.nodes) {
    Node* node = nodes_.Find(plan.key);
    if (node == nullptr || node->queued != queued.key) continue;
    if (node->state == NodeState::kDeleting || !HoldsChips(node->state)) continue;
    nodes_.Preempt(*node, now);
  }
  Later(queued, now + context_.settings.delays.suspend,
        [this](QueuedResource& suspended, TimePoint due) {
          SetState(suspended, QueuedState::kSuspended, suspended.initiator);
          if (!context_.settings.guesses.suspended_keeps_nodes) EraseNodes(suspended, due);
        });
}

void ResourceQueue::Review(TimePoint now) {
  // Changing a node calls back into this: run one pass at a time, and another one afterwards.
  review_again_ = true;
  if (reviewing_) return;
  reviewing_ = true;
  while (std::exchange(review_again_, false)) {
    for (auto& [key, queued] : queued_) ReviewNodes(queued, now);
    ReviewWaiting(now);
  }
  reviewing_ = false;
}

void ResourceQueue::ReviewWaiting(TimePoint now) {
  std::vector<QueuedResource*> waiting;
  for (auto& [key, queued] : queued_) {
    const bool in_turn = queued.queue_over && !queued.stalled;
    if (queued.state == QueuedState::kWaiting && in_turn) waiting.push_back(&queued);
  }
  std::sort(waiting.begin(), waiting.end(),
            [](const auto* a, const auto* b) { return a->order < b->order; });
  for (QueuedResource* queued : waiting) {
    const int count = static_cast<int>(queued->nodes.size());
    if (nodes_.HasCapacity(queued->shape, queued->key.zone, count)) Provision(*queued, now);
  }
}

void ResourceQueue::ReviewNodes(QueuedResource& queued, TimePoint now) {
  if (queued.state != QueuedState::kProvisioning && queued.state != QueuedState::kActive) return;
  bool all_ready = true;
  for (const NodePlan& plan : queued.nodes) {
    const Node* node = nodes_.Find(plan.key);
    if (node == nullptr || node->queued != queued.key || node->state == NodeState::kDeleting) {
      return Suspend(queued, "USER", now);
    }
    if (node->state == NodeState::kPreempted || node->state == NodeState::kTerminated) {
      return Suspend(queued, "SERVICE", now);
    }
    all_ready = all_ready && node->state == NodeState::kReady && node->health.empty();
  }
  if (!all_ready) return;
  if (queued.state == QueuedState::kProvisioning) Activate(queued, now);
  if (queued.reset) {
    context_.operations.Succeed(*queued.reset, Response(queued), now);
    queued.reset.reset();
  }
}

Reply ResourceQueue::Delete(QueuedResource& queued, bool force, const std::string& version,
                            TimePoint now) {
  const bool has_nodes =
      HasNodes(queued.state) &&
      std::any_of(queued.nodes.begin(), queued.nodes.end(),
                  [&](const NodePlan& plan) { return nodes_.Find(plan.key) != nullptr; });
  if (has_nodes && !force) {
    return ToReply({.code = base::Code::kFailedPrecondition,
                    .message = context_.settings.guesses.force_needed});
  }
  const Operations::Key operation = Begin(queued, "delete", version, now);
  const TimePoint due = now + context_.settings.delays.remove;
  if (queued.state != QueuedState::kDeleting) {
    const ApiError aborted{.code = base::Code::kAborted,
                           .message = "the queued resource is deleted"};
    context_.operations.Fail(queued.operation, aborted, now);
    SetState(queued, QueuedState::kDeleting, "USER");
    for (const NodePlan& plan : queued.nodes) {
      Node* node = nodes_.Find(plan.key);
      if (node != nullptr && node->queued == queued.key) nodes_.Remove(*node, now);
    }
    Later(queued, due, [this](QueuedResource& gone, TimePoint at) {
      EraseNodes(gone, at);
      queued_.erase(ResourceKey(gone.key));
      Review(at);
    });
  }
  context_.timeline.At(due, [this, operation](TimePoint at) {
    context_.operations.Succeed(operation, EmptyResponse(), at);
  });
  return {.body = context_.operations.Render(operation)};
}

Reply ResourceQueue::Reset(QueuedResource& queued, const std::string& version, TimePoint now) {
  if (queued.state != QueuedState::kActive) {
    return ToReply(PreconditionError("Queued resource " + queued.key.id +
                                     " cannot be reset in state " + StateName(queued.state) + "."));
  }
  queued.reset = Begin(queued, "reset", version, now);
  const Operations::Key operation = *queued.reset;
  for (const NodePlan& plan : queued.nodes) {
    if (Node* node = nodes_.Find(plan.key)) nodes_.Restart(*node, now);
  }
  return {.body = context_.operations.Render(operation)};
}

Reply ResourceQueue::PerformMaintenance(QueuedResource& queued, const Json& body,
                                        const std::string& version, TimePoint now) {
  std::set<std::string> wanted;
  for (const Json& name : Member(body, "nodeNames")) wanted.insert(name.get<std::string>());
  std::vector<Node*> nodes;
  for (const NodePlan& plan : queued.nodes) {
    const std::size_t named =
        wanted.erase(ResourceName(plan.key, "nodes")) + wanted.erase(plan.key.id);
    if (named == 0 && !Member(body, "nodeNames").empty()) continue;
    Node* node = nodes_.Find(plan.key);
    if (node == nullptr || node->state != NodeState::kReady ||
        !Flag(node->upcoming.maintenance, "canReschedule")) {
      return ToReply(PreconditionError("Node " + plan.key.id +
                                       " has no maintenance that can be rescheduled."));
    }
    nodes.push_back(node);
  }
  if (!wanted.empty()) {
    return ToReply(NotFoundError(*wanted.begin()));
  }
  const Operations::Key operation = Begin(queued, "update", version, now);
  queued.reset = operation;
  for (Node* node : nodes) nodes_.MaintainNow(*node, now);
  return {.body = context_.operations.Render(operation)};
}

}  // namespace jobman::sim
