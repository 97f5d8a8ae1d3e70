// How host reports change the record of the stage.
#include <algorithm>

#include "core/reconcile/fold_parts.hpp"

namespace jobman::core {

Facts FoldReport(Stage& stage, const HostRun& news, TimePoint now) {
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
  }
  // It was given up: what the command left behind may run on.
  if (ended && settled && !run.settled && run.phase == HostPhase::kExited) run.error = news.error;
  run.settled = settled;
  return facts;
}

void LoseRuns(Stage& stage, const std::vector<int>& hosts, const std::string& why) {
  for (HostRun& run : stage.hosts) {
    if (std::find(hosts.begin(), hosts.end(), run.host) == hosts.end()) continue;
    if (!Ended(run)) {
      run.phase = HostPhase::kLost;
      run.error = {.code = base::Code::kAborted, .message = why};
    }
    run.settled = true;
  }
}

}  // namespace jobman::core
