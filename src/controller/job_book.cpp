#include "controller/job_book.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "controller/hook_events.hpp"
#include "controller/journal.hpp"
#include "jobman/base/log.hpp"
#include "jobman/controller/times.hpp"
#include "jobman/core/describe.hpp"

namespace jobman::controller {

using base::LogLevel;
using core::Job;
using core::JobId;

namespace {

bool IsAboutTheSame(const core::HostReport& newer, const core::HostReport& older) {
  const bool ended =
      older.run.phase == core::HostPhase::kExited || older.run.phase == core::HostPhase::kLost;
  return newer.run.host == older.run.host && !ended && !older.run.settled &&
         newer.attempt == older.attempt && newer.stage == older.stage;
}

/// Whether `newer` makes `older` needless.
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

/// Puts an observation into an inbox. The inbox must not grow while nothing can be recorded: on a
/// full disk that may be for hours.
void Take(std::vector<core::Observation>& inbox, core::Observation seen) {
  std::erase_if(inbox, [&](const core::Observation& older) { return Supersedes(seen, older); });
  inbox.push_back(std::move(seen));
}

/// Whether core::RequestHolds may learn from a decision: it looks at requests, their answers and
/// time in a queue. Most decisions are about runs.
bool MayTeach(const Job& before, const Job& after) {
  const auto phase = [](const Job& job) {
    return job.slice ? std::optional(job.slice->phase) : std::nullopt;
  };
  const auto hosts = [](const Job& job) { return job.slice && !job.slice->hosts.empty(); };
  return before.state.index() != after.state.index() || before.attempt != after.attempt ||
         phase(before) != phase(after) || hosts(before) != hosts(after) ||
         std::holds_alternative<core::Waiting>(after.state);
}

/// How long observations wait for others that share their commit. A commit writes the whole job, so
/// each costs as much as the job has hosts, and there are as many reports. When they also gather
/// for longer the more hosts there are, a report of one host costs the same in a job of any size.
core::Duration GatheringOf(const Job& job, core::Duration took) {
  constexpr std::size_t kHostsOfOneShare = 32;
  const std::size_t hosts = job.stage ? job.stage->hosts.size() : 0;
  const auto shares = static_cast<int>(std::max<std::size_t>(1, hosts / kHostsOfOneShare));
  return std::min(took * shares, kLongestGathering);
}

void LogDecision(JobId id, const std::string& text) {
  base::Log(LogLevel::kInfo, "loop", "job {}: {}", core::FormatJobId(id), text);
}

/// Equal ones, such as those on the reports of a thousand hosts, are one line.
void LogDecisions(JobId id, const std::vector<std::string>& texts) {
  for (auto text = texts.begin(); text != texts.end();) {
    const auto next =
        std::find_if(text, texts.end(), [&](const auto& one) { return one != *text; });
    const auto times = next - text;
    LogDecision(id, times == 1 ? *text : fmt::format("{} ({} times)", *text, times));
    text = next;
  }
}

}  // namespace

JobBook::JobBook(asio::io_context& loop, const Ports& ports, const core::Policy& policy,
                 Hooks hooks)
    : loop_(loop), ports_(ports), policy_(policy), hooks_(std::move(hooks)) {}

JobBook::EntryPtr JobBook::EntryOf(JobId id) const {
  const auto found = entries_.find(id);
  return found == entries_.end() ? nullptr : found->second;
}

const Job* JobBook::Find(JobId id) const {
  const EntryPtr entry = EntryOf(id);
  return entry ? &entry->job : nullptr;
}

std::vector<const Job*> JobBook::All() const {
  std::vector<const Job*> jobs;
  for (const auto& [id, entry] : entries_) jobs.push_back(&entry->job);
  return jobs;
}

bool JobBook::AnyCare() const {
  return std::any_of(entries_.begin(), entries_.end(),
                     [](const auto& entry) { return core::NeedsCare(entry.second->job); });
}

// --- observations ---

void JobBook::Post(JobId id, core::Observation seen) {
  const EntryPtr entry = EntryOf(id);
  if (!entry) return;
  Take(entry->inbox, std::move(seen));
  Schedule(entry, GatheringOf(entry->job, entry->took));
}

void JobBook::RepeatEffects(JobId id) {
  const EntryPtr entry = EntryOf(id);
  if (!entry) return;
  entry->repeat = true;
  if (entry->recording) return;  // repeated after the commit
  entry->repeat = false;
  HandOutImplied(entry->job);
}

/// `job` is a copy: executing an effect may change the entry.
void JobBook::HandOutImplied(Job job) {
  const core::Step again{.job = job, .effects = core::ImpliedEffects(job), .why = job.why};
  LogDecision(job.id, core::Describe(job, again));
  hooks_.decided(job, again.effects);
}

std::optional<core::TimePoint> JobBook::WakeDue(core::TimePoint now) {
  std::optional<core::TimePoint> next;
  for (const auto& [id, entry] : entries_) {
    if (!entry->job.wake_at) continue;
    if (*entry->job.wake_at <= now) {
      if (!entry->working) Post(id, core::Tick{});
      continue;
    }
    if (!next || *entry->job.wake_at < *next) next = entry->job.wake_at;
  }
  return next;
}

// --- decisions ---

void JobBook::Schedule(const EntryPtr& entry, core::Duration delay) {
  if (entry->working) return;
  entry->working = true;
  ++working_;
  base::Spawn(loop_.get_executor(), scope_, Work(this, entry, delay));
}

base::Task<void> JobBook::Work(JobBook* self, EntryPtr entry, core::Duration delay) {
  for (Again again = delay; again;) {
    co_await base::Sleep(*again);
    if (!self->IsInBook(entry)) break;
    again = co_await self->DecideOnce(entry);
  }
  entry->working = false;
  --self->working_;
}

base::Task<JobBook::Again> JobBook::DecideOnce(EntryPtr entry) {
  Decision decision = Decide(*entry);
  if (decision.changed) {
    if (const auto flaw = hooks_.flaw_of(decision.turn.job)) {
      const ports::JobVersion job{.id = entry->job.id, .version = entry->job.version};
      co_await SetAside(job, "a decision that contradicts itself was not recorded: " + *flaw);
      co_return std::nullopt;
    }
    entry->recording = true;
    entry->starting = core::IsAtWork(decision.turn.job);
    const auto committed = co_await ports_.stores.jobs->Commit(decision.turn, lease_token_);
    entry->recording = false;
    entry->starting = false;
    if (!committed.ok()) {
      // Nothing was recorded, so nothing is done. The observations are decided on again later.
      Inbox newer = std::exchange(entry->inbox, std::move(decision.seen));
      for (core::Observation& seen : newer) Take(entry->inbox, std::move(seen));
      co_return co_await Refused(entry, committed.error());
    }
    ++decision.turn.job.version;
  }
  entry->took = ports_.clock->Now() - decision.at;
  Recorded(*entry, std::move(decision));
  if (entry->outdated && IsInBook(entry)) {
    const auto read = co_await Reload(entry);
    entry->outdated = !read.ok();
    if (entry->outdated) co_return kRecordAgain;
  }
  if (entry->inbox.empty()) co_return std::nullopt;
  co_return GatheringOf(entry->job, entry->took);
}

JobBook::Decision JobBook::Decide(Entry& entry) {
  Decision decision{.at = ports_.clock->Now(), .turn = {.job = entry.job}};
  decision.seen = std::exchange(entry.inbox, {});
  entry.took = core::Duration{0};
  ports::Turn& turn = decision.turn;
  core::RequestHolds holds = holds_;  // what is not recorded has not been learned
  for (const core::Observation& seen : decision.seen) {
    core::Policy policy = policy_;
    policy.hold = holds.HoldFor(turn.job);
    policy.full = FullFor(turn.job);
    core::Step step = core::Reconcile(turn.job, seen, decision.at, policy, ports_.random());
    const double random = ports_.random();
    holds.Learn(turn.job, step.job, decision.at, random);
    if (MayTeach(turn.job, step.job)) decision.lessons.push_back({turn.job, step.job, random});
    if (!step.settled) {
      base::Log(LogLevel::kError, "loop", "job {}: did not settle after {}: {}",
                core::FormatJobId(turn.job.id), core::Describe(seen),
                core::Describe(turn.job, step));
    }
    Record(turn.job, seen, step, decision.at, turn);
    AddDeliveries(turn.job, step, decision.at, policy_.store_id, turn);
    const bool told = std::holds_alternative<core::KeyPinned>(seen);  // a line of the journal
    decision.changed = decision.changed || step.changed || told;
    if (step.changed || !step.effects.empty())
      decision.texts.push_back(core::Describe(turn.job, step));
    turn.job = std::move(step.job);
    turn.tasks.insert(turn.tasks.end(), step.tasks.begin(), step.tasks.end());
    decision.effects.insert(decision.effects.end(), step.effects.begin(), step.effects.end());
  }
  return decision;
}

/// job.max_running. A job at work keeps its place.
std::optional<core::GroupFull> JobBook::FullFor(const Job& job) const {
  if (!job.spec.max_running || core::IsAtWork(job)) return std::nullopt;
  core::GroupFull full;
  for (const auto& [id, entry] : entries_) {
    const bool other = id != job.id && entry->job.spec.group == job.spec.group;
    if (other && (entry->starting || core::IsAtWork(entry->job))) full.at_work.push_back(id);
  }
  const bool room = static_cast<int>(full.at_work.size()) < *job.spec.max_running;
  if (room && complete_) return std::nullopt;
  return full;
}

/// A job has stopped to work: others of its group may begin, in the order of their numbers. Only as
/// many are asked as there may be room for; all are asked now and then (Job::wake_at).
void JobBook::WakeGroupOf(const Job& job) {
  if (job.spec.group.empty()) return;
  int room = job.spec.max_running.value_or(1);
  for (const auto& [id, entry] : entries_) {
    const bool waits = std::holds_alternative<core::Queued>(entry->job.state);
    if (room == 0 || !waits || id == job.id || entry->job.spec.group != job.spec.group) continue;
    Post(id, core::Tick{});
    --room;
  }
}

void JobBook::Recorded(Entry& entry, Decision decision) {
  for (const Lesson& lesson : decision.lessons) {
    holds_.Learn(lesson.before, lesson.after, decision.at, lesson.random);
  }
  const bool worked = core::IsAtWork(entry.job);
  entry.job = std::move(decision.turn.job);
  const Job job = entry.job;
  LogDecisions(job.id, decision.texts);
  const bool repeat = std::exchange(entry.repeat, false);
  if (!core::NeedsCare(job)) entries_.erase(job.id);
  if (worked && !core::IsAtWork(job)) WakeGroupOf(job);
  if (decision.changed || !decision.effects.empty()) hooks_.decided(job, decision.effects);
  if (repeat) HandOutImplied(job);
}

base::Task<JobBook::Again> JobBook::Refused(EntryPtr entry, base::Error error) {
  const JobId id = entry->job.id;
  const auto offered = std::erase_if(entry->inbox, [](const core::Observation& seen) {
    return std::holds_alternative<core::TaskOffered>(seen);
  });
  if (error.reason == base::Reason::kLeaseLost) {
    hooks_.lease_lost();
    co_return std::nullopt;
  }
  if (error.code == base::Code::kNotFound) {
    Drop(id);
    co_return std::nullopt;
  }
  const std::int64_t version = entry->job.version;
  const bool stale = error.reason == base::Reason::kStale;
  bool reread = false;
  if (stale) {
    const auto read = co_await Reload(entry);
    reread = read.ok();
  }
  if (reread && entry->job.version > version) co_return core::Duration{0};
  if (!IsInBook(entry)) co_return std::nullopt;
  // Not the job has changed, but the task that it was offered: it is offered anew.
  if (stale && offered > 0) co_return core::Duration{0};
  base::Log(LogLevel::kError, "store", "job {}: cannot record a decision, so nothing is done: {}",
            core::FormatJobId(id), error.ToString());
  co_return kRecordAgain;
}

}  // namespace jobman::controller
