#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>

#include "cli/commands.hpp"
#include "cli/follow_job.hpp"
#include "cli/narrator.hpp"
#include "cli/status_words.hpp"
#include "cli/views/waited.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/client/find_jobs.hpp"
#include "jobman/core/explain.hpp"

namespace jobman::cli {
namespace {

struct WaitOptions {
  std::vector<std::string> jobs = {};
  std::vector<std::string> states = {};
  std::string timeout = {};
};

constexpr const char* kOver = "OVER";
constexpr const char* kDone = "DONE";

bool IsAmong(const std::vector<std::string>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// What to wait for. A job is settled when it is in one of the given states, has been in one since
/// the wait began, or is final and so will not reach one by itself.
class Goal {
 public:
  static base::Result<Goal> Read(const std::vector<std::string>& given) {
    std::vector<std::string> known = StatusWords();
    known.insert(known.end(), {kOver, kDone});
    Goal goal;
    JM_ASSIGN_OR_RETURN(goal.words_, ReadStatusWords("--for", given, known));
    return goal;
  }

  /// "to be RUNNING or DONE"
  std::string Text() const {
    return words_.empty() ? "to be over" : "to be " + base::Join(words_, " or ");
  }

  /// States from before the wait do not count.
  base::Status Begin(const client::Context& context, const std::vector<core::JobId>& ids) {
    for (const core::JobId id : ids) {
      JM_ASSIGN_OR_RETURN(const auto events, context.Await(context.stores.jobs->Events(id, 0)));
      looked_[id].event = events.empty() ? 0 : events.back().number;
    }
    return base::Ok();
  }

  base::Result<bool> Settled(const client::Context& context, const core::Job& job) {
    JM_TRY(LookBack(context, job));
    // With a wish that the controller has not acted on yet, the job will leave its state.
    return !job.wish_new && (Reached(job) || core::IsFinal(job.state));
  }

  bool Reached(const core::Job& job) const {
    const bool over = core::IsFinal(job.state);
    if (words_.empty()) return over;
    return looked_.at(job.id).passed || IsAmong(words_, core::StateName(job.state)) ||
           IsAmong(words_, core::FamiliarStatus(job)) ||
           (over && (IsAmong(words_, kOver) || IsAmong(words_, kDone)));
  }

  /// The exit code of `run`; with --for, only reaching such a state is a success.
  int ExitCode(const core::Job& job) const {
    if (!words_.empty() && Reached(job)) return kSuccess;
    const int code = ExitCodeOfJob(job);
    return code == kSuccess && !words_.empty() ? kJobFailed : code;
  }

 private:
  /// The journal has the states that came and went between two polls.
  base::Status LookBack(const client::Context& context, const core::Job& job) {
    Looked& looked = looked_[job.id];
    if (looked.version == job.version) return base::Ok();
    looked.version = job.version;
    JM_ASSIGN_OR_RETURN(const auto events,
                        context.Await(context.stores.jobs->Events(job.id, looked.event)));
    for (const ports::Event& event : events) {
      if (event.kind == "state" && WasReachedIn(event.subject)) looked.passed = true;
      looked.event = event.number;
    }
    return base::Ok();
  }

  /// Whether a job that was in the state of this name has reached the goal. The journal does not
  /// tell whether it was IDLE or DEAD then, because that depends on its slice.
  bool WasReachedIn(const std::string& state) const {
    const bool over = IsAmong({"SUCCEEDED", "FAILED", "CANCELLED", "DELETED"}, state);
    return IsAmong(words_, state) || IsAmong(words_, FamiliarWordOf(state)) ||
           (over && (IsAmong(words_, kOver) || IsAmong(words_, kDone)));
  }

  struct Looked {
    std::int64_t event = 0;
    std::int64_t version = -1;
    bool passed = false;
  };
  std::vector<std::string> words_ = {};  ///< empty: any final state
  std::map<core::JobId, Looked> looked_ = {};
};

base::Result<std::optional<base::Duration>> ReadTimeout(const std::string& text) {
  if (text.empty()) return std::optional<base::Duration>{};
  auto timeout = base::ParseDuration(text);
  if (!timeout.ok()) return std::move(timeout).error().With("--timeout");
  return std::optional(*timeout);
}

base::Result<int> RunWait(App& app, const WaitOptions& options) {
  JM_ASSIGN_OR_RETURN(Goal goal, Goal::Read(options.states));
  client::WaitFor wait{.goal = goal.Text()};
  JM_ASSIGN_OR_RETURN(wait.timeout, ReadTimeout(options.timeout));
  JM_ASSIGN_OR_RETURN(const client::Context context, app.OpenForWriting());
  JM_ASSIGN_OR_RETURN(const auto ids,
                      context.Await(client::FindJobs(context.stores.jobs, options.jobs)));
  JM_TRY(goal.Begin(context, ids));
  wait.settled = [&](const core::Job& job) { return goal.Settled(context, job); };
  JM_ASSIGN_OR_RETURN(const auto jobs, TellAndWait(app, context, ids, std::move(wait)));
  views::Waited view;
  int worst = kSuccess;
  for (const core::Job& job : jobs) {
    view.rows.push_back({.id = job.id,
                         .name = job.name,
                         .state = std::string(core::StateName(job.state)),
                         .reached = goal.Reached(job),
                         .exit_code = goal.ExitCode(job),
                         .why = job.why});
    worst = std::max(worst, view.rows.back().exit_code);
  }
  app.Show(view);
  return worst;
}

}  // namespace

void AddWait(CLI::App& root, Invocation& chosen) {
  auto options = std::make_shared<WaitOptions>();
  CLI::App* command = root.add_subcommand(
      "wait", "Wait until jobs are over, with their exit code, or until they are in a state");
  command->add_option("JOB", options->jobs, "Numbers or names; waits for all of them")->required();
  command
      ->add_option("--for", options->states,
                   "A state, or QUEUEING, RUNNING, IDLE, DEAD, or DONE: however it ends")
      ->type_name("STATE,...")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);  // jobs may follow
  command
      ->add_option("--timeout", options->timeout,
                   "Give up after this time, with exit code 75: 90s, 15m, 2h")
      ->type_name("TIME");
  command->callback(
      [options, &chosen] { chosen.run = [options](App& app) { return RunWait(app, *options); }; });
}

}  // namespace jobman::cli
