#include "cli/follow_job.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/background.hpp"
#include "cli/interrupt.hpp"
#include "cli/log_follower.hpp"
#include "cli/log_printer.hpp"
#include "cli/views/job_end.hpp"
#include "jobman/ui/ask.hpp"
#include "jobman/ui/progress.hpp"
#include "jobman/ui/text.hpp"

namespace jobman::cli {
namespace {

constexpr base::Duration kPollEvery = std::chrono::milliseconds{50};

/// Says each change of the job once.
class Narrator {
 public:
  Narrator(App& app, base::TimePoint began)
      : app_(app), progress_(app.terminal(), app.mode() == OutputMode::kQuiet), began_(began) {}

  void Tell(const core::Job& job) {
    if (job.id.value == 0 || job.why == last_why_) return;
    last_why_ = job.why;
    const std::string head = fmt::format(
        "{:>6}  {:<12}  ", base::FormatDuration(app_.Now() - began_), core::StateName(job.state));
    app_.Say(head + ui::Wrap(job.why, ui::DisplayWidth(head), app_.terminal().err_style().width));
  }

 private:
  App& app_;
  ui::Progress progress_;
  base::TimePoint began_;
  std::string last_why_ = {};
};

/// After Ctrl-C: whether to go on following.
bool GoOnAfterInterrupt(App& app, ports::Store& store, core::JobId id,
                        const FollowOptions& options) {
  const std::string number = core::FormatJobId(id);
  if (options.ask_to_cancel) {
    ForgetInterrupt();  // a second Ctrl-C says no
    const auto cancel =
        ui::AskYesNo(app.terminal(), 0,
                     fmt::format("\nCancel job {} (no: it goes on without this command)?", number));
    if (cancel.ok() && *cancel && store.SetWish(id, core::Wish::kCancel, false, app.Now()).ok()) {
      return WakeController(app, store).ok() && ForgetInterrupt();
    }
  }
  app.Say(fmt::format("detached: job {0} goes on; to follow it again: jobman logs -f {0}", number));
  return false;
}

base::Status ShowEnd(App& app, ports::Store& store, const core::Job& job) {
  JM_ASSIGN_OR_RETURN(auto exits, store.Exits(job.id));
  std::erase_if(exits, [&](const auto& exit) { return exit.attempt != job.attempt; });
  app.Show(views::JobEnd{.job = job, .exits = std::move(exits), .exit_code = ExitCodeOfJob(job)});
  return base::Ok();
}

/// A setup step that passed its own time limit failed: running it again is no better idea than
/// after any other failure.
bool IsLateStep(const base::Error& error) {
  return error.code == base::Code::kDeadlineExceeded && error.reason == base::Reason::kNone;
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
      if (!done->error || IsLateStep(*done->error)) return kJobFailed;
      return ExitCodeOf(*done->error);
    case core::Outcome::kCancelled:
    case core::Outcome::kDeleted:
      return kJobFailed;
  }
  return kJobFailed;
}

base::Result<int> FollowJob(App& app, ports::Store& store, core::JobId id,
                            const FollowOptions& options) {
  JM_ASSIGN_OR_RETURN(const base::StatePaths paths, app.Paths());
  LogFollower follower(paths, store, id, {});
  LogPrinter printer(app, id, false, true);
  Narrator narrator(app, app.Now());
  const auto take = [&](const LogStage& stage, int host, std::string_view bytes) {
    if (!options.logs) return true;
    return printer.Print(stage, host, HostCount(paths, follower.job(), stage), bytes);
  };
  base::TimePoint looked = app.Now();
  for (;;) {
    JM_TRY(follower.Poll(take));
    narrator.Tell(follower.job());
    if (follower.done()) break;
    if (app.Now() - looked > kLookAtController) {
      JM_TRY(EnsureController(app, store));  // it may have been killed
      looked = app.Now();
    }
    if (app.Wait(kPollEvery)) continue;
    if (app.terminal().out_error() != 0) return app.EndOfWait();
    if (!GoOnAfterInterrupt(app, store, id, options)) return kInterrupted;
  }
  printer.Finish();
  JM_TRY(ShowEnd(app, store, follower.job()));
  return ExitCodeOfJob(follower.job());
}

}  // namespace jobman::cli
