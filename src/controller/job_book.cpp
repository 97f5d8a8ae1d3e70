#include "controller/job_book.hpp"

#include <algorithm>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>

#include "controller/journal.hpp"
#include "controller/notices.hpp"
#include "jobman/base/log.hpp"

namespace jobman::controller {

using base::LogLevel;
using core::Job;
using core::JobId;

namespace {

constexpr core::Duration kLongestGathering = std::chrono::milliseconds{500};

bool IsAboutTheSame(const core::HostReport& newer, const core::HostReport& older) {
  const bool ended =
      older.run.phase == core::HostPhase::kExited || older.run.phase == core::HostPhase::kLost;
  return newer.run.host == older.run.host && !ended && !older.run.settled &&
         newer.attempt == older.attempt && newer.stage == older.stage;
}

/// What newer news make needless. The inbox must not grow while nothing can be recorded: on a full
/// disk that may be for hours.
bool Supersedes(const core::Observation& newer, const core::Observation& older) {
  if (newer.index() != older.index()) return false;
  if (const auto* report = std::get_if<core::HostReport>(&newer)) {
    return IsAboutTheSame(*report, std::get<core::HostReport>(older));
  }
  if (const auto* seen = std::get_if<core::SliceSeen>(&newer)) {
    return seen->slice == std::get<core::SliceSeen>(older).slice;
  }
  return std::holds_alternative<core::Tick>(newer) ||
         std::holds_alternative<core::Silence>(newer) ||
         std::holds_alternative<core::LookFailed>(newer);
}

}  // namespace

JobBook::JobBook(asio::io_context& loop, const World& world, const core::Policy& policy,
                 Hooks hooks)
    : loop_(loop), world_(world), policy_(policy), hooks_(std::move(hooks)) {}

base::Status JobBook::Load() {
  JM_ASSIGN_OR_RETURN(std::vector<Job> jobs, world_.store->Active());
  for (Job& job : jobs) {
    const JobId id = job.id;
    const auto found = entries_.find(id);
    const bool known = found != entries_.end();
    if (known && found->second.job.version == job.version) continue;
    Entry& entry = entries_[id];
    entry.job = std::move(job);
    if (!known) {
      holds_.Recall(entry.job);
      hooks_.decided(entry.job, core::ImpliedEffects(entry.job));
    }
    Post(id, core::Tick{});
  }
  return base::Ok();
}

const Job* JobBook::Find(JobId id) const {
  const auto found = entries_.find(id);
  return found == entries_.end() ? nullptr : &found->second.job;
}

std::vector<const Job*> JobBook::All() const {
  std::vector<const Job*> jobs;
  for (const auto& [id, entry] : entries_) jobs.push_back(&entry.job);
  return jobs;
}

bool JobBook::AnyCare() const {
  for (const auto& [id, entry] : entries_) {
    if (core::NeedsCare(entry.job)) return true;
  }
  return false;
}

void JobBook::Post(JobId id, core::Observation seen) {
  const auto found = entries_.find(id);
  if (found == entries_.end()) return;
  std::vector<core::Observation>& inbox = found->second.inbox;
  std::erase_if(inbox, [&](const core::Observation& older) { return Supersedes(seen, older); });
  inbox.push_back(std::move(seen));
  // A commit writes the whole job. With a thousand hosts it takes as long as many reports do to
  // come in: let them gather, so that they share one.
  Schedule(id, std::min(found->second.took, kLongestGathering));
}

void JobBook::RepeatEffects(JobId id) {
  const Job* found = Find(id);
  if (found == nullptr) return;
  const Job job = *found;
  hooks_.decided(job, core::ImpliedEffects(job));
}

void JobBook::Schedule(JobId id, core::Duration delay) {
  Entry& entry = entries_[id];
  if (entry.scheduled) return;
  entry.scheduled = true;
  ++pending_;
  auto timer = std::make_shared<asio::steady_timer>(loop_, delay);
  timer->async_wait([this, id, timer](std::error_code) {
    --pending_;
    const auto found = entries_.find(id);
    if (found == entries_.end()) return;
    found->second.scheduled = false;
    Decide(id);
  });
}

void JobBook::Decide(JobId id) {
  Entry& entry = entries_[id];
  const core::TimePoint now = world_.clock->Now();
  entry.took = core::Duration{0};
  ports::Turn turn{.job = entry.job};
  std::vector<core::Effect> effects;
  core::RequestHolds holds = holds_;  // what is not recorded has not been learned
  bool changed = false;
  for (const core::Observation& seen : entry.inbox) {
    core::Policy policy = policy_;
    policy.hold = holds.HoldFor(turn.job);
    core::Step step = core::Reconcile(turn.job, seen, now, policy, world_.random());
    holds.Learn(turn.job, step.job, now, world_.random());
    Record(turn.job, seen, step, now, turn);
    AddNotices(turn.job, step, now, policy_.store_id, turn);
    changed = changed || step.changed;
    turn.job = std::move(step.job);
    effects.insert(effects.end(), step.effects.begin(), step.effects.end());
  }
  if (changed) {
    const auto committed = world_.store->Commit(turn, lease_token_);
    if (!committed.ok()) return Refused(id, committed.error());
    ++turn.job.version;
  }
  entry.took = world_.clock->Now() - now;
  holds_ = std::move(holds);
  entry.inbox.clear();
  entry.job = std::move(turn.job);
  const Job job = entry.job;
  if (!core::NeedsCare(job)) entries_.erase(id);
  if (changed || !effects.empty()) hooks_.decided(job, effects);
}

/// Nothing was recorded, so nothing is done; the observations are decided upon again later.
void JobBook::Refused(JobId id, const base::Error& error) {
  if (error.reason == base::Reason::kLeaseLost) return hooks_.lease_lost();
  if (error.reason == base::Reason::kStale && Reload(id).ok()) {
    return Schedule(id, core::Duration{0});
  }
  if (!entries_.contains(id)) return;  // erased meanwhile
  base::Log(LogLevel::kError, "store", "job {}: cannot record a decision, so nothing is done: {}",
            core::FormatJobId(id), error.ToString());
  Schedule(id, std::chrono::seconds{1});
}

base::Status JobBook::Reload(JobId id) {
  auto job = world_.store->Get(id);
  if (!job.ok()) {
    if (job.error().code == base::Code::kNotFound) entries_.erase(id);
    return std::move(job).error();
  }
  entries_[id].job = std::move(job).value();
  if (entries_[id].inbox.empty()) entries_[id].inbox.push_back(core::Tick{});
  return base::Ok();
}

std::optional<core::TimePoint> JobBook::WakeDue(core::TimePoint now) {
  std::optional<core::TimePoint> next;
  for (auto& [id, entry] : entries_) {
    if (!entry.job.wake_at) continue;
    if (*entry.job.wake_at <= now) {
      if (!entry.scheduled) Post(id, core::Tick{});
      continue;
    }
    if (!next || *entry.job.wake_at < *next) next = entry.job.wake_at;
  }
  return next;
}

}  // namespace jobman::controller
