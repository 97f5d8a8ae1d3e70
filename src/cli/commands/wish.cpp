// The commands that set a wish: cancel (stop), resume, reboot, requeue, delete.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "cli/commands.hpp"
#include "cli/confirm.hpp"
#include "cli/follow_job.hpp"
#include "cli/job_choice.hpp"
#include "cli/job_file.hpp"
#include "cli/narrator.hpp"
#include "cli/views/wished.hpp"
#include "jobman/client/find_jobs.hpp"
#include "jobman/client/revise_job.hpp"
#include "jobman/client/set_wishes.hpp"
#include "jobman/core/explain.hpp"

namespace jobman::cli {
namespace {

struct WishOptions {
  JobChoice choice = {};
  client::WishOrder order = {};  ///< its jobs are those of `choice`
  std::string file = {};         ///< a changed job file
  JobFileOptions changes = {};
  bool take_code = false;
  bool wait = false;
  bool yes = false;       ///< delete, or give the slice up, without asking
  std::string said = {};  ///< what was requested, for people: "cancelling"
};

/// One of the jobs with its changed file, which is stored together with the wish.
base::Result<client::Wished> ReviseOne(App& app, const client::Context& context,
                                       const WishOptions& options, const core::Job& job,
                                       config::Loaded loaded) {
  JM_ASSIGN_OR_RETURN(const client::Revised revised,
                      context.Await(client::ReviseJob(context, {.job = job.id,
                                                                .loaded = std::move(loaded),
                                                                .wish = options.order.wish,
                                                                .take_code = options.take_code})));
  for (const std::string& note : revised.notes) app.Say("note: " + note);
  const bool goes_on = options.order.wish == core::Wish::kRun && !core::IsFinal(job.state);
  return client::Wished{.job = job.id, .at_next_attempt = goes_on};
}

/// With a changed file or values. All files are loaded before the first job is changed.
base::Result<std::vector<client::Wished>> Revise(App& app, const client::Context& context,
                                                 const WishOptions& options) {
  if (!options.file.empty() && options.order.jobs.size() != 1) {
    return base::InvalidArgument("--file changes one job", "name a single job");
  }
  const auto setup = options.order.setup;
  if (setup != core::SetupWish::kAsNeeded) {
    return base::InvalidArgument("--force cannot be used with --file or --set",
                                 "a changed setup step runs again without it");
  }
  std::vector<std::pair<core::Job, config::Loaded>> changed;
  for (const std::string& word : options.order.jobs) {
    JM_ASSIGN_OR_RETURN(const core::JobId id,
                        context.Await(client::FindJob(context.stores.jobs, word)));
    JM_ASSIGN_OR_RETURN(core::Job job, context.Await(context.stores.jobs->Get(id)));
    if (options.file.empty()) {
      JM_ASSIGN_OR_RETURN(const auto source, context.Await(context.stores.jobs->Source(id)));
      JM_TRY(CheckElementSets(job, source, options.changes));
    }
    JM_ASSIGN_OR_RETURN(auto loaded, options.file.empty()
                                         ? LoadStoredFile(app, job, {}, options.changes)
                                         : LoadFileFor(app, job, options.file, options.changes));
    changed.emplace_back(std::move(job), std::move(loaded));
  }
  std::vector<client::Wished> wished;
  for (auto& [job, loaded] : changed) {
    JM_ASSIGN_OR_RETURN(wished.emplace_back(),
                        ReviseOne(app, context, options, job, std::move(loaded)));
  }
  return wished;
}

base::Result<std::vector<client::Wished>> SetWishes(App& app, const client::Context& context,
                                                    const WishOptions& options) {
  const JobFileOptions& changes = options.changes;
  const bool changed = options.take_code || !options.file.empty() || !changes.sets.empty() ||
                       !changes.set_files.empty();
  if (changed) return Revise(app, context, options);
  return context.Await(client::SetWishes(context, options.order));
}

/// Whether the order changes what is asked of the cloud: then only requeue can carry it out.
bool MayNeedAnotherSlice(const WishOptions& options) {
  const auto is_of_slice = [](const std::string& set) {
    return set.starts_with("tpu") || set.starts_with("cloud");
  };
  const auto& sets = options.changes.sets;
  const auto& files = options.changes.set_files;
  return !options.file.empty() || std::any_of(sets.begin(), sets.end(), is_of_slice) ||
         std::any_of(files.begin(), files.end(), is_of_slice);
}

/// Said first: the next slice may be long in coming. A worker keeps its slice.
bool MayGiveUp(App& app, const std::vector<core::Job>& jobs, const WishOptions& options) {
  std::vector<core::Job> holders;
  for (const core::Job& job : jobs) {
    if (!job.slice || !core::IsHeld(*job.slice) || job.slice->ref.existing) continue;
    if (job.spec.queue && !job.revised && !MayNeedAnotherSlice(options)) continue;
    const std::string id = core::FormatJobId(job.id);
    app.Say("job " + id + " gives up slice " + job.slice->ref.name +
            (MayNeedAnotherSlice(options) ? "" : "; to run again on it: jobman reboot " + id));
    holders.push_back(job);
  }
  return options.yes || ConfirmEach(app, "give up the slice of", holders);
}

/// Those of the chosen jobs to which the user agrees.
base::Result<std::vector<core::JobId>> Agreed(App& app, const client::Context& context,
                                              const WishOptions& options,
                                              const std::vector<core::JobId>& ids) {
  const bool removes = options.order.wish == core::Wish::kDelete;
  const bool gives_up = options.order.wish == core::Wish::kRequeue;
  if (!gives_up && (!removes || options.yes)) return ids;
  JM_ASSIGN_OR_RETURN(const auto jobs, ReadJobs(context, ids));
  const bool may = gives_up ? MayGiveUp(app, jobs, options) : Confirm(app, "delete", jobs);
  if (!may) return std::vector<core::JobId>{};
  return StillMeant(app, context, options.choice, jobs);
}

views::Wished::Row WishedRow(const core::Job& job) {
  return {.id = job.id,
          .name = job.name,
          .state = std::string(core::StateName(job.state)),
          .status = std::string(core::StatusWord(job)),
          .settled = true,
          .why = job.why};
}

/// With --wait: each job is shown when it is at rest, as JSON all of them in the end.
base::Result<int> WaitAndShow(App& app, const client::Context& context, const WishOptions& options,
                              const std::vector<core::JobId>& ids) {
  const OnEnd show = [&](const core::Job& job) {
    app.ShowNow(views::Wished{.said = options.said, .rows = {WishedRow(job)}});
  };
  const bool text = app.mode() == OutputMode::kText;
  JM_ASSIGN_OR_RETURN(const auto jobs, WaitUntilAtRest(app, context, ids, text ? show : OnEnd{}));
  views::Wished view{.said = options.said};
  int worst = kSuccess;
  for (const core::Job& job : jobs) {
    view.rows.push_back(WishedRow(job));
    if (client::RunsAgain(options.order.wish)) worst = std::max(worst, ExitCodeOfJob(job));
  }
  if (!text) app.Show(view);
  if (client::RunsAgain(options.order.wish)) {
    SayWhichFailed(app, context, jobs);
    JM_TRY(ShowNextIfAnyFailed(app, context, jobs));
  }
  return worst;
}

base::Result<int> RunWish(App& app, WishOptions options) {
  JM_ASSIGN_OR_RETURN(const client::Context context, app.OpenForWriting());
  const client::FindRules rules{.removes = options.order.wish == core::Wish::kDelete};
  JM_ASSIGN_OR_RETURN(const auto chosen, Choose(context, options.choice, rules));
  JM_ASSIGN_OR_RETURN(const auto agreed, Agreed(app, context, options, chosen));
  if (agreed.empty()) return kJobFailed;
  for (const core::JobId id : agreed) options.order.jobs.push_back(core::FormatJobId(id));
  JM_ASSIGN_OR_RETURN(const auto wished, SetWishes(app, context, options));
  if (options.wait) return WaitAndShow(app, context, options, agreed);
  views::Wished view{.said = options.said};
  std::vector<core::Job> under_way;
  for (const client::Wished& one : wished) {
    JM_ASSIGN_OR_RETURN(const core::Job job, context.Await(context.stores.jobs->Get(one.job)));
    view.rows.push_back(WishedRow(job));
    view.rows.back().settled = one.true_already;
    view.rows.back().runs_already = one.true_already && options.order.wish == core::Wish::kRun;
    view.rows.back().at_next_attempt = one.at_next_attempt;
    view.rows.back().ends_first = one.ends_first;
    if (!one.true_already && !one.at_next_attempt) under_way.push_back(job);
  }
  view.under_way = NameAll(context, under_way);
  app.Show(view);
  return kSuccess;
}

CLI::App* AddWish(CLI::App& root, Invocation& chosen, const std::string& name,
                  const std::string& help, const std::shared_ptr<WishOptions>& options) {
  CLI::App* command = root.add_subcommand(name, help);
  AddJobChoice(*command, {options, &options->choice});
  const bool ends =
      options->order.wish == core::Wish::kCancel || options->order.wish == core::Wish::kDelete;
  command->add_flag("--wait", options->wait,
                    ends ? "Return when it is done"
                         : "Return when the jobs are over, with their command's exit code");
  command->callback(
      [options, &chosen] { chosen.run = [options](App& app) { return RunWish(app, *options); }; });
  return command;
}

/// Of a command that runs the job again.
CLI::App* AddRunAgain(CLI::App& root, Invocation& chosen, const std::string& name,
                      const std::string& help, const std::shared_ptr<WishOptions>& options) {
  CLI::App* command = AddWish(root, chosen, name, help, options);
  command->add_option("-f,--file", options->file, "With this changed job file")->type_name("FILE");
  AddSetOptions(*command, {options, &options->changes});
  command->add_flag("--code", options->take_code, "With the code as it is now");
  return command;
}

std::shared_ptr<WishOptions> Order(core::Wish wish, std::string said) {
  auto options = std::make_shared<WishOptions>();
  options->order.wish = wish;
  options->said = std::move(said);
  return options;
}

}  // namespace

void AddCancel(CLI::App& root, Invocation& chosen) {
  AddWish(
      root, chosen, "cancel",
      "Stop the remote processes (TERM, grace, KILL); the slice is kept. A worker ends its task "
      "first, and takes no other; a second cancel stops that task, too",
      Order(core::Wish::kCancel, "cancelling"))
      ->alias("stop");
}

void AddResume(CLI::App& root, Invocation& chosen) {
  AddRunAgain(root, chosen, "resume", "Run a stopped job again, on its slice if it still holds one",
              Order(core::Wish::kRun, "resuming"));
}

void AddReboot(CLI::App& root, Invocation& chosen) {
  const auto options = Order(core::Wish::kReboot, "stopping and starting again");
  AddRunAgain(root, chosen, "reboot", "Stop, then run again on the same slice", options)
      ->add_flag_callback(
          "--force", [options] { options->order.setup = core::SetupWish::kRedo; },
          "Run the setup steps again too");
}

void AddRequeue(CLI::App& root, Invocation& chosen) {
  const auto options = Order(core::Wish::kRequeue, "requeueing");
  AddRunAgain(root, chosen, "requeue",
              "Stop, give the slice up, and run again on a new one; a worker keeps its slice, and "
              "gives its task back",
              options)
      ->add_flag("-y,--yes", options->yes, "Without asking");
}

void AddDelete(CLI::App& root, Invocation& chosen) {
  const auto options = Order(core::Wish::kDelete, "deleting");
  AddWish(root, chosen, "delete", "Stop, and delete every cloud resource; records and logs stay",
          options)
      ->alias("rm")
      ->add_flag("-y,--yes", options->yes, "Without asking");
}

}  // namespace jobman::cli
