#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include "cli/commands.hpp"
#include "cli/follow_job.hpp"
#include "cli/job_choice.hpp"
#include "cli/narrator.hpp"
#include "cli/status_words.hpp"
#include "cli/views/waited.hpp"
#include "jobman/client/wait_goal.hpp"
#include "jobman/core/explain.hpp"

namespace jobman::cli {
namespace {

struct WaitOptions {
  JobChoice choice = {};
  std::vector<std::string> states = {};
  std::optional<std::string> timeout = {};
};

base::Result<std::vector<std::string>> ReadStates(const std::vector<std::string>& given) {
  std::vector<std::string> known = StatusWords();
  std::erase(known, "STARTING");  // passes by too quickly to be waited for
  known.emplace_back(client::kDone);
  return ReadStatusWords("--for", given, known);
}

/// The exit code of `run`; with --for, only reaching such a state is a success.
int ExitCodeOfWait(const core::Job& job, bool for_states, bool reached) {
  if (for_states && reached) return kSuccess;
  const int code = ExitCodeOfJob(job);
  return code == kSuccess && for_states ? kJobFailed : code;
}

base::Result<std::optional<base::Duration>> ReadTimeout(const std::optional<std::string>& text) {
  if (!text) return std::optional<base::Duration>{};
  auto timeout = base::ParseDuration(*text);
  if (!timeout.ok()) return std::move(timeout).error().With("--timeout");
  return std::optional(*timeout);
}

views::Waited::Row WaitedRow(const core::Job& job, const client::WaitGoal& goal, bool for_states) {
  const bool reached = goal.Reached(job);
  return {.id = job.id,
          .name = job.name,
          .state = std::string(core::StateName(job.state)),
          .status = std::string(core::StatusWord(job)),
          .reached = reached,
          .exit_code = ExitCodeOfWait(job, for_states, reached),
          .why = job.why};
}

/// For the user who reads on and finds exit code 1 after a success.
std::string MissedNote(const views::Waited::Row& row, const client::WaitGoal& goal) {
  return fmt::format("note: job {} ({}) is over: {}, not {} as --for asks",
                     core::FormatJobId(row.id), row.name, row.status, goal.Words());
}

base::Result<int> RunWait(App& app, const WaitOptions& options) {
  JM_ASSIGN_OR_RETURN(auto states, ReadStates(options.states));
  const bool for_states = !states.empty();
  client::WaitGoal goal(std::move(states));
  client::WaitFor wait{.goal = goal.Text()};
  JM_ASSIGN_OR_RETURN(wait.timeout, ReadTimeout(options.timeout));
  JM_ASSIGN_OR_RETURN(const client::Context context, app.OpenForWriting());
  JM_ASSIGN_OR_RETURN(const auto ids, Choose(context, options.choice));
  JM_TRY(goal.Begin(context, ids));
  wait.settled = [&](const core::Job& job) { return goal.Settled(context, job); };
  const OnEnd show = [&](const core::Job& job) {
    app.ShowNow(views::Waited{.rows = {WaitedRow(job, goal, for_states)}});
  };
  const bool text = app.mode() == OutputMode::kText;
  JM_ASSIGN_OR_RETURN(const auto jobs,
                      TellAndWait(app, context, ids, std::move(wait), text ? show : OnEnd{}));
  views::Waited view;
  int worst = kSuccess;
  for (const core::Job& job : jobs) {
    view.rows.push_back(WaitedRow(job, goal, for_states));
    worst = std::max(worst, view.rows.back().exit_code);
  }
  if (!text) app.Show(view);
  for (const views::Waited::Row& row : view.rows) {
    if (!row.reached) app.Say(MissedNote(row, goal));
  }
  if (!for_states) SayWhichFailed(app, context, jobs);
  return worst;
}

}  // namespace

void AddWait(CLI::App& root, Invocation& chosen) {
  auto options = std::make_shared<WaitOptions>();
  CLI::App* command = root.add_subcommand(
      "wait",
      "Wait until all of the jobs are over, with their exit code, or until they are in a state");
  AddJobChoice(*command, {options, &options->choice});
  command
      ->add_option("--for", options->states,
                   "A state, or QUEUEING, RUNNING, IDLE, DEAD, or DONE: however it ends")
      ->type_name("STATE,...")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);  // jobs may follow
  command
      ->add_option_function<std::string>(
          "--timeout", [options](const std::string& text) { options->timeout = text; },
          "Give up after this time, with exit code 75: 90s, 15m, 2h")
      ->type_name("TIME");
  command->callback(
      [options, &chosen] { chosen.run = [options](App& app) { return RunWait(app, *options); }; });
}

}  // namespace jobman::cli
