#include "cli/follow_job.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/interrupt.hpp"
#include "cli/log_printer.hpp"
#include "cli/narrator.hpp"
#include "cli/views/job_end.hpp"
#include "jobman/client/background_controller.hpp"
#include "jobman/client/log_follower.hpp"

namespace jobman::cli {
namespace {

/// After Ctrl-C: whether to keep following.
bool GoOnAfterInterrupt(App& app, const client::Context& context, core::JobId id,
                        const FollowOptions& options) {
  const std::string number = core::FormatJobId(id);
  if (options.ask_to_cancel) {
    ForgetInterrupt();  // so that a second Ctrl-C answers no
    const auto cancel = app.Ask(fmt::format("\nCancel job {}? (no: it keeps running)", number));
    if (cancel.ok() && *cancel &&
        context
            .Await(context.stores.jobs->SetWish(id, core::Wish::kCancel, core::SetupWish::kAsNeeded,
                                                app.Now()))
            .ok()) {
      return context.Await(client::WakeController(context)).ok() && ForgetInterrupt();
    }
  }
  app.Say(fmt::format("detached: job {0} keeps running; to follow it again: jobman logs -f {0}",
                      number));
  return false;
}

base::Status ShowEnd(App& app, const client::Context& context, const core::Job& job) {
  JM_ASSIGN_OR_RETURN(auto exits, context.Await(context.stores.jobs->Exits(job.id)));
  std::erase_if(exits, [&](const auto& exit) { return exit.attempt != job.attempt; });
  app.Show(views::JobEnd{.job = job, .exits = std::move(exits), .exit_code = ExitCodeOfJob(job)});
  return base::Ok();
}

}  // namespace

int ExitCodeOfJob(const core::Job& job) {
  const auto* done = std::get_if<core::Done>(&job.state);
  if (done == nullptr) return kTryLater;
  switch (done->outcome) {
    case core::Outcome::kSucceeded:
      return kSuccess;
    case core::Outcome::kFailed:
      if (done->exit_code > 0 && done->exit_code < 256) return done->exit_code;
      return done->error ? ExitCodeOf(*done->error) : kJobFailed;
    case core::Outcome::kCancelled:
    case core::Outcome::kDeleted:
      return kJobFailed;
  }
  return kJobFailed;
}

base::Result<int> FollowJob(App& app, const client::Context& context, core::JobId id,
                            const FollowOptions& options) {
  client::LogFollower follower(context, id, {.first_attempt = options.first_attempt});
  LogPrinter printer(app, id, false, true);
  Narrator narrator(app, false);
  const auto take = [&](const client::LogStage& stage, int host, std::string_view bytes) {
    if (!options.logs) return true;
    narrator.Heard(bytes);
    const int count = client::HostCount(context.paths, follower.job(), stage);
    return printer.Print(stage, host, count, bytes);
  };
  const auto tell = [&narrator](const core::Job& job) { narrator.Tell(job); };
  for (;;) {
    JM_ASSIGN_OR_RETURN(const bool done, follower.Follow(take, tell));
    if (done) break;
    narrator.Hide();
    if (app.terminal().out_error() != 0) return app.EndOfWait();
    if (!GoOnAfterInterrupt(app, context, id, options)) return kInterrupted;
  }
  narrator.Hide();
  printer.Finish();
  // Then the hosts' output is all that is asked for; the exit code tells how it ended.
  const bool raw = options.logs && app.mode() == OutputMode::kQuiet;
  if (raw) return ExitCodeOfJob(follower.job());
  JM_TRY(ShowEnd(app, context, follower.job()));
  return ExitCodeOfJob(follower.job());
}

}  // namespace jobman::cli
