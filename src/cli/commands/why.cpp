#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "cli/commands.hpp"
#include "cli/commands/why_tasks.hpp"
#include "cli/follow_job.hpp"
#include "cli/job_choice.hpp"
#include "cli/views/explanation.hpp"
#include "cli/views/job_detail.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/client/background_controller.hpp"
#include "jobman/client/last_words.hpp"
#include "jobman/client/queue.hpp"
#include "jobman/controller/times.hpp"
#include "jobman/core/explain.hpp"
#include "jobman/remote/host_script.hpp"

namespace jobman::cli {
namespace {

static_assert(core::kHostIsTriedFor == controller::kUnreachableLimit,
              "what is said is what is done");
static_assert(core::kStopIsTriedFor == remote::kStopMargin, "the same");

/// Why nothing happens. A full disk comes before all else: with it no advice can be followed.
/// `queued`: there may be capacity already, and nobody looks.
void AddNoController(core::Explanation& why, const client::Context& context, bool queued) {
  const base::Status can_work = client::ControllerCanWork(context.paths);
  const bool can = can_work.ok();
  why.facts.push_back((can ? "no controller is running" : can_work.error().message) +
                      ", so nothing happens");
  if (!can) why.next_step = can_work.error().hint;
  if (why.next_step.empty() || (can && queued)) {
    why.next_step = "jobman controller start, or jobman tick";
  }
}

/// What can be done about a job that has failed, as when it was followed to its end.
base::Result<std::optional<views::NextCommands>> WaysOn(const client::Context& context,
                                                        const core::Job& job,
                                                        const std::string& next_step) {
  const auto* const done = std::get_if<core::Done>(&job.state);
  const bool failed = done != nullptr && done->outcome == core::Outcome::kFailed;
  if (!failed || job.wish_new) return std::optional<views::NextCommands>{};
  JM_ASSIGN_OR_RETURN(const bool ran, WorkWasBegun(context, job.id));
  views::NextCommands next = views::NextOf(job, ran);
  next.failed.clear();  // this is `why`
  next.ran = ran && !base::Contains(next_step, "jobman logs");
  return std::optional(std::move(next));
}

/// Takes the words that mean no job, but a task, out of `words`. A job wins, and it is said.
base::Result<std::vector<std::string>> TakeTasks(App& app, const client::Context& context,
                                                 std::vector<std::string>& words) {
  std::vector<std::string> tasks;
  std::vector<std::string> jobs;
  for (const std::string& word : words) {
    JM_ASSIGN_OR_RETURN(const bool task, context.Await(client::IsTaskOfStore(context, word)));
    const bool job = !task || context.Await(client::FindJobs(context.stores.jobs, {word})).ok();
    if (task && job) app.Say("note: " + word + " is a task, too: jobman task show " + word);
    (job ? jobs : tasks).push_back(word);
  }
  words = std::move(jobs);
  return tasks;
}

base::Result<int> RunWhy(App& app, JobChoice choice) {
  JM_ASSIGN_OR_RETURN(const client::Context context, app.OpenForReading());
  std::vector<std::string> tasks;
  if (choice.statuses.empty() && choice.labels.empty()) {
    JM_ASSIGN_OR_RETURN(tasks, TakeTasks(app, context, choice.words));
  }
  std::vector<core::JobId> ids;
  if (tasks.empty() || !choice.words.empty()) {
    JM_ASSIGN_OR_RETURN(ids, Choose(context, choice));
  }
  JM_ASSIGN_OR_RETURN(const auto controller,
                      context.Await(client::LiveController(context.stores.leases, context.Now())));
  views::Explanations view;
  for (const core::JobId id : ids) {
    JM_ASSIGN_OR_RETURN(const core::Job job, context.Await(context.stores.jobs->Get(id)));
    core::Explanation why = core::Explain(job, app.Now());
    JM_ASSIGN_OR_RETURN(const auto aside, context.Await(context.stores.jobs->WhySetAside(id)));
    if (aside) {
      why.facts.insert(why.facts.begin(), *aside);
      why.next_step =
          "report it with what this prints: jobman show --json " + core::FormatJobId(id);
    }
    JM_ASSIGN_OR_RETURN(const auto deliveries,
                        context.Await(context.stores.outbox->Deliveries(id)));
    for (std::string& trouble : views::HookTroubles(deliveries, app.Now())) {
      why.facts.push_back(std::move(trouble));
    }
    JM_ASSIGN_OR_RETURN(const auto exits, context.Await(context.stores.jobs->Exits(id)));
    if (const auto output = client::FindLastOutput(context.paths, job)) {
      why.facts.push_back("last output " + client::LastOutputText(*output, app.Now()));
    }
    auto words = client::FindLastWords(context.paths, job, exits);
    if (!controller && core::NeedsCare(job)) {
      AddNoController(why, context,
                      std::holds_alternative<core::Waiting>(job.state) ||
                          std::holds_alternative<core::BackingOff>(job.state));
    }
    JM_ASSIGN_OR_RETURN(auto ways_on, WaysOn(context, job, why.next_step));
    if (aside) ways_on.reset();
    view.rows.push_back({.id = id,
                         .name = job.name,
                         .why = std::move(why),
                         .words = std::move(words),
                         .ways_on = std::move(ways_on)});
  }
  JM_ASSIGN_OR_RETURN(view.tasks, ExplainTasks(context, tasks, controller.has_value()));
  app.Show(view);
  return kSuccess;
}

}  // namespace

void AddWhy(CLI::App& root, Invocation& chosen) {
  auto choice = std::make_shared<JobChoice>();
  CLI::App* command = root.add_subcommand(
      "why", "Why a job or task is in its state, what it waits for, and what to do");
  AddJobChoice(*command, choice);
  command->callback(
      [choice, &chosen] { chosen.run = [choice](App& app) { return RunWhy(app, *choice); }; });
}

}  // namespace jobman::cli
