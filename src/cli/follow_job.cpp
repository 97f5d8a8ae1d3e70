#include "cli/follow_job.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/interrupt.hpp"
#include "cli/job_choice.hpp"
#include "cli/job_label.hpp"
#include "cli/log_streams.hpp"
#include "cli/narrator.hpp"
#include "cli/views/job_end.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/client/background_controller.hpp"

namespace jobman::cli {
namespace {

/// The answer to Ctrl-C: the job is to be cancelled, and followed to that end.
bool IsToBeCancelled(App& app, const client::Context& context, core::JobId id) {
  ForgetInterrupt();  // so that a second Ctrl-C answers no
  const auto cancel =
      app.Ask(fmt::format("\nCancel job {}? (no: it keeps running)", core::FormatJobId(id)));
  return cancel.ok() && *cancel &&
         context
             .Await(context.stores.jobs->SetWish(id, core::Wish::kCancel,
                                                 core::SetupWish::kAsNeeded, app.Now()))
             .ok();
}

void SayDetached(App& app, const std::vector<core::Job>& jobs) {
  std::vector<std::string> numbers;
  for (const core::Job& job : jobs) numbers.push_back(core::FormatJobId(job.id));
  const bool one = numbers.size() == 1;
  app.Say(fmt::format("detached: {} {} {} running; to follow {} again: jobman logs -f {}",
                      one ? "job" : "jobs", base::Join(numbers, ", "), one ? "keeps" : "keep",
                      one ? "it" : "them", base::Join(numbers, " ")));
}

/// After Ctrl-C: whether to keep following.
bool GoOnAfterInterrupt(App& app, const client::Context& context,
                        const std::vector<core::Job>& jobs, const FollowOptions& options) {
  if (options.ask_to_cancel && IsToBeCancelled(app, context, jobs.front().id)) {
    return context.Await(client::WakeController(context)).ok() && ForgetInterrupt();
  }
  SayDetached(app, jobs);
  return false;
}

base::Status ShowEnd(App& app, const client::Context& context, const core::Job& job, bool alone) {
  JM_ASSIGN_OR_RETURN(auto exits, context.Await(context.stores.jobs->Exits(job.id)));
  std::erase_if(exits, [&](const auto& exit) { return exit.attempt != job.attempt; });
  JM_ASSIGN_OR_RETURN(const bool ran, WorkWasBegun(context, job.id));
  app.Show(views::JobEnd{.job = job,
                         .exits = std::move(exits),
                         .exit_code = ExitCodeOfJob(job),
                         .alone = alone,
                         .ran = ran});
  return base::Ok();
}

std::vector<core::Job> NotSucceeded(const std::vector<core::Job>& jobs) {
  std::vector<core::Job> failed;
  for (const core::Job& job : jobs) {
    if (!views::HasSucceeded(job)) failed.push_back(job);
  }
  return failed;
}

/// What to do next about several jobs.
void ShowNext(App& app, const client::Context& context, const std::vector<core::Job>& jobs) {
  std::vector<core::Job> held;
  for (const core::Job& job : jobs) {
    if (views::HoldsSlice(job)) held.push_back(job);
  }
  const views::NextCommands next{.several = true,
                                 .all = NameAll(context, jobs),
                                 .failed = NameAll(context, NotSucceeded(jobs)),
                                 .held = NameAll(context, held)};
  app.terminal().Out("\n" + RenderText(next, app.terminal().out_style()));
}

/// Returns the largest of their exit codes.
base::Result<int> ShowEnds(App& app, const client::Context& context,
                           const std::vector<core::Job>& jobs, const FollowOptions& options) {
  // Then the hosts' output is all that is asked for; the exit code tells how it ended.
  const bool raw = options.logs && app.mode() == OutputMode::kQuiet;
  const bool alone = jobs.size() == 1;
  int worst = kSuccess;
  for (const core::Job& job : jobs) {
    worst = std::max(worst, ExitCodeOfJob(job));
    if (!raw) JM_TRY(ShowEnd(app, context, job, alone));
  }
  if (jobs.size() > 1 && app.mode() == OutputMode::kText) ShowNext(app, context, jobs);
  return worst;
}

}  // namespace

base::Result<bool> WorkWasBegun(const client::Context& context, core::JobId id) {
  JM_ASSIGN_OR_RETURN(const auto events, context.Await(context.stores.jobs->Events(id, 0)));
  return std::any_of(events.begin(), events.end(), [](const ports::Event& event) {
    return event.kind == "state" && (event.subject == core::StateName(core::Setup{}) ||
                                     event.subject == core::StateName(core::Running{}));
  });
}

base::Status ShowNextIfAnyFailed(App& app, const client::Context& context,
                                 const std::vector<core::Job>& jobs) {
  const bool all_well = std::all_of(jobs.begin(), jobs.end(), views::HasSucceeded);
  if (all_well || app.mode() != OutputMode::kText) return base::Ok();
  if (jobs.size() > 1) {
    ShowNext(app, context, jobs);
    return base::Ok();
  }
  JM_ASSIGN_OR_RETURN(const bool ran, WorkWasBegun(context, jobs.front().id));
  const views::NextCommands next = views::NextOf(jobs.front(), ran);
  app.terminal().Out("\n" + RenderText(next, app.terminal().out_style()));
  return base::Ok();
}

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

void SayWhichFailed(App& app, const client::Context& context, const std::vector<core::Job>& jobs) {
  constexpr std::size_t kMostNames = 5;
  const auto failed = NotSucceeded(jobs);
  if (jobs.size() < 2 || failed.empty()) return;
  std::vector<std::string> names;
  for (const core::Job& job : failed) {
    if (names.size() < kMostNames) names.push_back(NumberAndName(job));
  }
  const std::size_t rest = failed.size() - names.size();
  app.Say(fmt::format("note: {} of {} jobs did not succeed: {}{}; jobman why {}", failed.size(),
                      jobs.size(), base::Join(names, ", "),
                      rest > 0 ? fmt::format(" and {} more", rest) : "", NameAll(context, failed)));
}

base::Result<int> FollowJob(App& app, const client::Context& context, core::JobId id,
                            const FollowOptions& options) {
  return FollowJobs(app, context, {id}, options);
}

base::Result<int> FollowJobs(App& app, const client::Context& context,
                             const std::vector<core::JobId>& ids, const FollowOptions& options) {
  JM_ASSIGN_OR_RETURN(const auto jobs, ReadJobs(context, ids));
  Narrator narrator(app, jobs);
  LogStreams streams(app, context, narrator);
  const auto labels = LabelsOf(jobs, app.terminal().facts().utf8);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    client::LogFollower::Options from{.first_attempt = options.first_attempt};
    from.hosts.all = options.logs;  // otherwise none
    streams.Add(ids[i], std::move(from), {.heading = StageHeading::kTold, .label = labels[i]});
  }
  const auto tell = [&narrator](const core::Job& job, bool) { narrator.Tell(job); };
  bool done = false;
  for (bool goes_on = true; !done && goes_on;) {
    JM_ASSIGN_OR_RETURN(done, streams.Follow(tell));
    narrator.Hide();
    if (!done && app.terminal().out_error() != 0) return app.EndOfWait();
    goes_on = done || GoOnAfterInterrupt(app, context, streams.JobsThatAre(false), options);
  }
  streams.Finish();
  JM_ASSIGN_OR_RETURN(const int worst, ShowEnds(app, context, streams.JobsThatAre(true), options));
  return done ? worst : kInterrupted;
}

}  // namespace jobman::cli
