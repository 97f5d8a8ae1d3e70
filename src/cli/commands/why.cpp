#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "cli/commands.hpp"
#include "cli/follow_job.hpp"
#include "cli/job_choice.hpp"
#include "cli/task_choice.hpp"
#include "cli/views/explanation.hpp"
#include "cli/views/job_detail.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/client/background_controller.hpp"
#include "jobman/client/last_words.hpp"
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

/// Whether a worker of the queue has the task's accelerator and zone.
bool HasWorker(const QueueSight& sight, const client::TaskPlace& place) {
  const core::TaskDefinition& wanted = place.task->definition;
  const auto& workers = sight.workers_of.at(place.queue->queue.file);
  return std::any_of(workers.begin(), workers.end(), [&wanted](const core::TaskWorker& worker) {
    return worker.accelerator == wanted.accelerator && worker.zone == wanted.zone;
  });
}

/// What can be done about a task.
std::string NextStepOf(const QueueSight& sight, const client::TaskPlace& place,
                       core::TaskState state) {
  const core::Task& task = *place.task;
  const std::string& id = task.definition.id;
  const bool waits = state == core::TaskState::kQueued && !task.definition.zone.empty();
  if (waits && !HasWorker(sight, place)) {
    return HowToStartAWorker(task.definition, place.queue->queue.file);
  }
  if (state == core::TaskState::kBlocked)
    return "jobman why " + *place.queue->board.MissingFor(task);
  if (state == core::TaskState::kFailed) return "jobman task logs " + id;
  if (state == core::TaskState::kPaused) return "jobman task resume " + id;
  if (state == core::TaskState::kRunning) return "jobman task logs -f " + id;
  return {};
}

/// What a host wrote last in the newest run, if that has failed for good.
base::Result<std::optional<client::LastWords>> WordsOf(const client::Context& context,
                                                       const client::TaskPlace& place,
                                                       core::TaskState state) {
  std::optional<client::LastWords> words;
  if (state != core::TaskState::kFailed) return words;
  const core::QueueId queue = place.queue->queue.id;
  const std::string& id = place.task->definition.id;
  JM_ASSIGN_OR_RETURN(const auto runs, context.Await(context.stores.queues->Runs(queue, id)));
  if (!runs.empty()) words = client::FindTaskWords(context.paths, queue, id, runs.back());
  return words;
}

/// The tasks that the words mean. One that several queues have is explained in each: nothing is
/// changed, so nobody needs to say which is meant.
base::Result<std::vector<client::TaskPlace>> PlacesOf(const QueueSight& sight,
                                                      const std::vector<std::string>& words) {
  std::vector<client::TaskPlace> places;
  for (const std::string& word : words) {
    const std::size_t before = places.size();
    for (const client::SeenQueue& queue : sight.queues) {
      const core::Task* const task = queue.board.Find(word);
      if (task != nullptr) places.push_back({.queue = &queue, .task = task});
    }
    if (places.size() > before) continue;
    JM_ASSIGN_OR_RETURN(const auto found, client::FindTasks(sight.queues, {word}));
    places.insert(places.end(), found.begin(), found.end());
  }
  return places;
}

base::Result<std::vector<views::Explanations::OfTask>> ExplainTasks(
    const client::Context& context, const std::vector<std::string>& words, bool controller) {
  std::vector<views::Explanations::OfTask> explained;
  if (words.empty()) return explained;
  JM_ASSIGN_OR_RETURN(const QueueSight sight, LookAtQueues(context, std::nullopt));
  JM_ASSIGN_OR_RETURN(const auto places, PlacesOf(sight, words));
  for (const client::TaskPlace& place : places) {
    views::Explanations::OfTask one{.row = RowOf(sight, place, context.Now())};
    if (places.size() > words.size()) one.facts.push_back("queue " + one.row.title);
    if (!base::Contains(one.row.why, one.row.task.why)) {
      one.facts.push_back("last: " + one.row.task.why);
    }
    for (const core::RefusedTask& refused : place.queue->refused) {
      if (refused.id != one.row.task.definition.id) continue;
      one.facts.push_back("what the file says now is refused, so it stays as it was: " +
                          refused.why);
    }
    one.next_step = NextStepOf(sight, place, one.row.state);
    JM_ASSIGN_OR_RETURN(one.words, WordsOf(context, place, one.row.state));
    const bool served = HasWorker(sight, place);
    if (!controller && served && one.row.state == core::TaskState::kQueued) {
      one.facts.emplace_back("no controller is running, so nothing happens");
      one.next_step = "jobman controller start, or jobman tick";
    }
    explained.push_back(std::move(one));
  }
  return explained;
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
