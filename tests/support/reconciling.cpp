#include "tests/support/reconciling.hpp"

#include <algorithm>
#include <utility>

#include "core/reconcile/slice_view.hpp"
#include "jobman/core/describe.hpp"
#include "jobman/core/flaw.hpp"
#include "tests/support/cloud_words.hpp"

namespace jobman::test {

std::vector<core::HostAddress> Addresses(int count, int subnet) {
  std::vector<core::HostAddress> all;
  for (int host = 0; host < count; ++host) {
    const std::string tail = std::to_string(subnet) + "." + std::to_string(host + 1);
    all.push_back({.internal = "10.0." + tail, .external = "198.51." + tail});
  }
  return all;
}

Reconciling::Reconciling(core::Job job) : job_(std::move(job)) {
  job_.created_at = clock.Now();
  job_.since = clock.Now();
}

Reconciling& Reconciling::See(core::Observation seen) {
  auto* const look = std::get_if<core::SliceSeen>(&seen);
  // After all earlier decisions.
  if (look != nullptr && look->began == TimePoint{}) look->began = clock.Now() + Duration{1};
  auto* const answer = std::get_if<core::DeleteAnswered>(&seen);
  if (answer != nullptr && answer->began == TimePoint{}) answer->began = clock.Now();
  const core::Job before = job_;
  step_ = core::Reconcile(job_, seen, clock.Now(), policy, unit_random);
  job_ = step_.job;
  effects_.clear();
  for (const core::Effect& effect : step_.effects) effects_.push_back(core::Describe(effect));
  ended_.clear();
  for (const core::EndedAttempt& one : step_.ended) {
    ended_.push_back(std::to_string(one.attempt) + " " + core::AttemptEndText(one.end));
  }
  if (!step_.settled) throw std::logic_error("the reconciler did not settle");
  if (const auto flaw = core::FlawOf(job_)) throw std::logic_error("a flaw: " + *flaw);
  if (job_.slice) last_slice_ = job_.slice->ref.name;
  if (on_step) on_step(before, step_);
  if (confirms && look != nullptr && IsDoubted(*look)) {
    look->by_name = true;
    look->began = {};
    return See(std::move(seen));
  }
  return *this;
}

/// The look is a listing that shows the slice as lost, and the decision is to ask by name.
bool Reconciling::IsDoubted(const core::SliceSeen& look) const {
  if (look.by_name || !job_.slice) return false;
  const core::Effect asks = core::LookUpSlice{job_.slice->ref};
  if (std::find(step_.effects.begin(), step_.effects.end(), asks) == step_.effects.end()) {
    return false;
  }
  const core::SliceView view = core::ViewOf(look, job_.slice->ref);
  const bool lacks = view == core::SliceView::kAbsent || view == core::SliceView::kPartial;
  return !lacks || !look.taken.empty();
}

Reconciling& Reconciling::Tick() {
  return See(core::Tick{});
}

Reconciling& Reconciling::After(Duration wait) {
  clock.Advance(wait);
  return Tick();
}

Reconciling& Reconciling::WishFor(core::Wish wish) {
  return WishUnseen(wish).Tick();
}

Reconciling& Reconciling::WishUnseen(core::Wish wish) {
  job_.wish = wish;
  job_.wish_new = true;
  return *this;
}

Reconciling& Reconciling::Answered() {
  return See(core::CreateAnswered{.slice = last_slice_, .operations = {"operations/1"}});
}

Reconciling& Reconciling::Refused(base::Error error) {
  return See(core::CreateAnswered{.slice = last_slice_, .error = std::move(error)});
}

core::SliceSeen Reconciling::Sight() const {
  return {.slice = last_slice_};
}

core::NodeSeen Reconciling::NodeOf(core::NodeState state, int hosts, int subnet) const {
  core::NodeSeen node;
  node.id = last_slice_;
  node.uid = "uid-" + last_slice_;
  node.state = state;
  node.raw_state = WordFor(state);
  node.hosts = Addresses(hosts, subnet);
  return node;
}

Reconciling& Reconciling::Queued(core::QueuedState state, std::optional<base::Error> failure) {
  core::SliceSeen seen = Sight();
  seen.queued = core::QueuedSeen{.id = last_slice_,
                                 .state = state,
                                 .raw_state = WordFor(state),
                                 .failure = std::move(failure)};
  return See(seen);
}

Reconciling& Reconciling::Node(core::NodeState state) {
  core::SliceSeen seen = Sight();
  seen.nodes = {NodeOf(state, 0, 0)};
  if (job_.spec.tpu.allocation_mode == core::AllocationMode::kQueuedResources) {
    seen.queued = core::QueuedSeen{.state = core::QueuedState::kActive, .raw_state = "ACTIVE"};
  }
  return See(seen);
}

Reconciling& Reconciling::Ready(int hosts, int subnet) {
  core::SliceSeen seen = Sight();
  seen.nodes = {NodeOf(core::NodeState::kReady, hosts, subnet)};
  if (job_.spec.tpu.allocation_mode == core::AllocationMode::kQueuedResources) {
    seen.queued = core::QueuedSeen{.state = core::QueuedState::kActive, .raw_state = "ACTIVE"};
  }
  return See(seen);
}

Reconciling& Reconciling::Maintained(int hosts) {
  return Unhealthy("UNHEALTHY_MAINTENANCE", hosts);
}

Reconciling& Reconciling::Unhealthy(std::string health, int hosts) {
  core::SliceSeen seen = Sight();
  seen.nodes = {NodeOf(core::NodeState::kReady, hosts, 0)};
  seen.nodes[0].health = std::move(health);
  if (job_.spec.tpu.allocation_mode == core::AllocationMode::kQueuedResources) {
    seen.queued = core::QueuedSeen{.state = core::QueuedState::kActive, .raw_state = "ACTIVE"};
  }
  return See(seen);
}

Reconciling& Reconciling::Announced(std::optional<core::Notice> notice, int hosts) {
  core::SliceSeen seen = Sight();
  seen.nodes = {NodeOf(core::NodeState::kReady, hosts, 0)};
  seen.nodes[0].notice = std::move(notice);
  if (job_.spec.tpu.allocation_mode == core::AllocationMode::kQueuedResources) {
    seen.queued = core::QueuedSeen{.state = core::QueuedState::kActive, .raw_state = "ACTIVE"};
  }
  return See(seen);
}

Reconciling& Reconciling::Absent() {
  return See(Sight());
}

Reconciling& Reconciling::NotFound() {
  core::SliceSeen seen = Sight();
  seen.by_name = true;
  return See(seen);
}

Reconciling& Reconciling::NoAnswer(base::Error error) {
  return See(core::LookFailed{.slice = last_slice_, .error = std::move(error)});
}

Reconciling& Reconciling::Foreign() {
  core::SliceSeen seen = Sight();
  seen.foreign = true;
  return See(seen);
}

Reconciling& Reconciling::Failed(base::Error error) {
  return See(core::OperationFailed{.slice = last_slice_, .error = std::move(error)});
}

Reconciling& Reconciling::Gone() {
  return See(core::DeleteAnswered{.slice = last_slice_, .gone = true});
}

Reconciling& Reconciling::DeleteAccepted() {
  return See(core::DeleteAnswered{.slice = last_slice_});
}

Reconciling& Reconciling::DeleteRefused(base::Error error) {
  return See(core::DeleteAnswered{.slice = last_slice_, .error = std::move(error)});
}

Reconciling& Reconciling::Report(core::HostRun run) {
  const core::StageId stage = job_.stage ? job_.stage->id : core::StageId{};
  return See(core::HostReport{.attempt = job_.attempt, .stage = stage, .run = std::move(run)});
}

Reconciling& Reconciling::HostRuns(int host) {
  return Report({.host = host, .phase = core::HostPhase::kRunning});
}

Reconciling& Reconciling::HostNotices(int host, core::Notice notice) {
  return Report({.host = host, .phase = core::HostPhase::kRunning, .notice = std::move(notice)});
}

Reconciling& Reconciling::HostEnds(int host, int exit_code) {
  const bool stopping = job_.stage && job_.stage->stop.has_value();
  return Report({.host = host,
                 .phase = core::HostPhase::kExited,
                 .exit_code = exit_code,
                 .settled = stopping});
}

Reconciling& Reconciling::HostSettles(int host) {
  return HostEnds(host);
}

Reconciling& Reconciling::HostLost(int host, std::optional<base::Error> error) {
  return Report(
      {.host = host, .phase = core::HostPhase::kLost, .error = std::move(error), .settled = true});
}

Reconciling& Reconciling::AllEnd(int exit_code) {
  if (!job_.stage) return *this;
  const core::StageId id = job_.stage->id;
  const auto hosts = job_.stage->hosts;
  for (const core::HostRun& run : hosts) {
    if (job_.stage && job_.stage->id == id) HostEnds(run.host, exit_code);
  }
  for (const core::HostRun& run : hosts) {
    if (job_.stage && job_.stage->id == id && job_.stage->stop.has_value()) HostSettles(run.host);
  }
  return *this;
}

Reconciling& Reconciling::Offered(core::Task task) {
  return See(core::TaskOffered{.task = std::move(task)});
}

Reconciling& Reconciling::ToRunning(int hosts) {
  Tick();
  Answered();
  Ready(hosts);
  while (std::holds_alternative<core::Setup>(job_.state)) AllEnd();
  for (int host = 0; host < hosts; ++host) HostRuns(host);
  return *this;
}

Reconciling& Reconciling::ToDone() {
  return ToRunning().AllEnd();
}

}  // namespace jobman::test
