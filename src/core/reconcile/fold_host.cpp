// How host reports change the record of the stage.
#include <fmt/format.h>

#include <algorithm>

#include "core/reconcile/fold_parts.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/core/explain.hpp"

namespace jobman::core {
namespace {

bool CannotStart(const HostRun& run) {
  return run.phase == HostPhase::kPending && run.error;
}

bool IsSameTrouble(const HostRun& a, const HostRun& b) {
  return a.error->code == b.error->code && a.error->reason == b.error->reason;
}

/// "host 0 refuses login as root; check ssh.user and ssh.private_key"
std::string TroubleText(const Job& job, const HostRun& run) {
  if (run.error->reason == base::Reason::kHostAuth) {
    return fmt::format("host {} refuses login as {}; check ssh.user and ssh.private_key", run.host,
                       job.spec.ssh.user);
  }
  return fmt::format("host {} cannot start {} yet: {}", run.host, job.stage->name,
                     run.error->message);
}

/// What a report says to those who wait for the stage to start: trouble of a new kind, which is
/// said of one host only, and its end.
std::string NoteOnStart(const Job& job, const HostRun& before, const HostRun& run) {
  const auto& hosts = job.stage->hosts;
  if (job.stage->stop) return {};
  if (CannotStart(run)) {
    const bool known =
        (CannotStart(before) && IsSameTrouble(before, run)) ||
        std::any_of(hosts.begin(), hosts.end(), [&](const HostRun& other) {
          return other.host != run.host && CannotStart(other) && IsSameTrouble(other, run);
        });
    return known ? std::string() : TroubleText(job, run);
  }
  if (!CannotStart(before) || Ended(run)) return {};
  const auto next = std::find_if(hosts.begin(), hosts.end(), CannotStart);
  if (next != hosts.end()) return run.host < next->host ? TroubleText(job, *next) : std::string();
  const auto started = std::count_if(hosts.begin(), hosts.end(), [](const HostRun& one) {
    return one.phase != HostPhase::kPending;
  });
  return fmt::format("started {} on {} of {}", job.stage->name, started,
                     base::Plural(static_cast<std::int64_t>(hosts.size()), "host"));
}

/// A broken connection is mended sooner, and not worth a word.
constexpr Duration kWorthSaying = std::chrono::seconds{30};

/// What a report says to those who see the job run: a host is silent, until when it is tried and
/// what follows; and that all answer again. It is said of one host, since `why` lists them.
std::string NoteOnSilence(const Job& job, TimePoint now) {
  constexpr std::string_view kHead = "no answer from host ";
  const Stage& stage = *job.stage;
  if (stage.stop || stage.told) return {};
  const bool said = job.why.starts_with(kHead);
  bool all_answer = true;
  for (const HostRun& run : stage.hosts) {
    if (run.phase != HostPhase::kRunning || !run.silent_since) continue;
    all_answer = false;
    if (said || now - *run.silent_since < kWorthSaying) continue;
    return fmt::format("{}{}: it is given up after {} (or the controller's --host-limit){}", kHead,
                       run.host, base::FormatDuration(kHostIsTriedFor),
                       stage.hosts.size() > 1 ? ", and the others are stopped" : "");
  }
  return said && all_answer ? "every host answers again" : "";
}

}  // namespace

Facts FoldReport(Job& job, const HostRun& news, TimePoint now) {
  Stage& stage = *job.stage;
  const auto found = std::find_if(stage.hosts.begin(), stage.hosts.end(),
                                  [&](const HostRun& run) { return run.host == news.host; });
  if (found == stage.hosts.end()) return {};
  HostRun& run = *found;
  Facts facts;
  if (news.notice && news.notice != run.notice) facts.notice = news.notice;
  // The end of a run is recorded once. After it only one thing counts: that nothing of the run is
  // left, in a stage that is or will be stopped.
  const bool to_be_stopped = stage.stop || (stage.told && stage.told->first_failed);
  const bool ended = Ended(run);
  const bool settled = run.settled || (news.settled && (!ended || to_be_stopped));
  if (!ended) {
    const HostRun before = std::exchange(run, news);
    run.started =
        before.started || run.phase == HostPhase::kRunning || run.phase == HostPhase::kExited;
    run.scanned = std::max(before.scanned, news.scanned);
    if (!run.notice) run.notice = before.notice;
    if (run.error && IsUnreachable(*run.error))
      run.silent_since = before.silent_since.value_or(now);
    facts.note = NoteOnStart(job, before, run);
    if (facts.note.empty()) facts.note = NoteOnSilence(job, now);
  }
  // It was given up: what the command left behind may run on.
  if (ended && settled && !run.settled && run.phase == HostPhase::kExited) run.error = news.error;
  run.settled = settled;
  return facts;
}

void FoldTaskOutput(Stage& stage, const TaskOutput& output) {
  if (!stage.task) return;
  // The first to say it is jobman, before the task runs.
  if (stage.task->commit.empty()) stage.task->commit = output.commit;
  const int rule = output.rule.value_or(-1);
  const bool known = rule >= 0 && static_cast<std::size_t>(rule) < TaskOutputRules().size();
  if (known) stage.task->rule = std::min(stage.task->rule.value_or(rule), rule);
}

void LoseRuns(Stage& stage, const std::vector<int>& hosts, const std::string& why) {
  for (HostRun& run : stage.hosts) {
    if (std::find(hosts.begin(), hosts.end(), run.host) == hosts.end()) continue;
    if (!Ended(run)) {
      run.phase = HostPhase::kLost;
      run.error = base::Error{.code = base::Code::kAborted, .message = why};
    }
    run.settled = true;
  }
}

}  // namespace jobman::core
