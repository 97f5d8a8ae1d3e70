#include "controller/stage_runner.hpp"

#include <utility>

#include "jobman/controller/times.hpp"

namespace jobman::controller {

StageRunner::StageRunner(StageContext context)
    : context_(std::move(context)),
      hosts_(context_),
      watch_(context_, hosts_),
      follower_(context_, hosts_, watch_),
      stopper_(context_, hosts_, follower_),
      passer_(context_, hosts_) {
  follower_.Start();
  watch_.Start();
}

bool StageRunner::Runs(int attempt, const core::StageId& stage) const {
  return attempt == context_.job->attempt && stage == context_.job->stage->id;
}

bool StageRunner::Quiet(core::TimePoint now) const {
  for (std::size_t index = 0; index < hosts_.size(); ++index) {
    const StageHost& host = hosts_.all()[index];
    const bool silent = host.reached && now - host.last_news > kQuiet;
    if (!host.ended && (!silent || passer_.Busy(index))) return false;
  }
  return true;
}

}  // namespace jobman::controller
