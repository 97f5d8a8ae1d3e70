#include "jobman/client/exec_runs.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands/exec.hpp"
#include "cli/exec_end.hpp"
#include "cli/exit_code.hpp"
#include "cli/file_limit.hpp"
#include "cli/views/exec_runs.hpp"
#include "jobman/client/times.hpp"
#include "jobman/client/vouching.hpp"

namespace jobman::cli {

using base::Result;

namespace {

/// How `exec` ends when the runs of these hosts are interrupted while it follows them.
base::Error StillRuns(core::JobId id, const std::string& name) {
  return {.code = base::Code::kCancelled,
          .message = "interrupted; run " + name + " goes on",
          .hint = "jobman exec " + core::FormatJobId(id) + " --follow " + name +
                  " shows its output, --stop " + name + " ends it"};
}

/// How `exec --detach` ends when it is interrupted: on some hosts the run may have begun.
base::Error MayRun(core::JobId id, const std::string& name) {
  return {.code = base::Code::kCancelled,
          .message = "interrupted; run " + name + " may have begun on some hosts",
          .hint = "jobman exec " + core::FormatJobId(id) + " --runs shows where, --stop " + name +
                  " ends it"};
}

Result<int> Detach(App& app, const client::Context& context, const ExecOptions& options,
                   const core::Job& job, std::vector<ssh::FanOutHost> hosts) {
  const std::string name = options.name.empty() ? client::ExecRunNameAt(app.Now()) : options.name;
  client::ExecRuns runs(context, job);
  auto result = runs.Begin(std::move(hosts), options.order, name, PatienceOf(options));
  if (!result.ok() && result.error().code == base::Code::kCancelled) return MayRun(job.id, name);
  JM_ASSIGN_OR_RETURN(ssh::FanOutResult begun, std::move(result));
  const ExecEnd end = EndOf(begun);
  const views::ExecRunBegun view{.job = job.id,
                                 .name = name,
                                 .job_hosts = static_cast<int>(job.slice->hosts.size()),
                                 .result = std::move(begun)};
  app.Show(view);
  app.terminal().Flush();
  for (const ssh::HostOutcome& host : view.result.hosts)
    if (!host.result.ok())
      app.Say("host " + std::to_string(host.host) + ": " + host.result.error().ToString());
  return end.code;
}

Result<int> FollowRun(App& app, const client::Context& context, const ExecOptions& options,
                      const core::Job& job, std::vector<ssh::FanOutHost> hosts) {
  JM_ASSIGN_OR_RETURN(const OutputPlace place, PlaceOf(app, context, options, hosts));
  ExecOutput output(app, place, static_cast<int>(job.slice->hosts.size()), hosts.size());
  for (ssh::FanOutHost& host : hosts) output.Connect(host);
  ssh::FanOutOptions fan_out = PatienceOf(options);
  if (!fan_out.patience) fan_out.patience = client::kFollowPatience;
  const auto gone = [&app](int host, base::FileGap gap) {
    app.Say("host " + std::to_string(host) + ": " + std::to_string(gap.end - gap.begin) +
            " bytes are gone from the middle of its log, which was too long");
  };
  client::ExecRuns runs(context, job);
  const auto result = runs.Follow(std::move(hosts), options.follow, fan_out, gone);
  output.Finish();
  if (!result.ok() && result.error().code == base::Code::kCancelled)
    return StillRuns(job.id, options.follow);
  if (!result.ok()) return result.error();
  return ShowExecEnd(app, job.id, *result, output, place);
}

Result<int> StopRun(App& app, const client::Context& context, const ExecOptions& options,
                    const core::Job& job, std::vector<ssh::FanOutHost> hosts) {
  client::ExecRuns runs(context, job);
  JM_ASSIGN_OR_RETURN(const ssh::FanOutResult result,
                      runs.Stop(std::move(hosts), options.stop, PatienceOf(options)));
  ExecOutput none(app, {}, static_cast<int>(job.slice->hosts.size()), result.hosts.size());
  JM_ASSIGN_OR_RETURN(const int code, ShowExecEnd(app, job.id, result, none, {}));
  // A run that was stopped has the code of the signal.
  const bool all = std::all_of(result.hosts.begin(), result.hosts.end(),
                               [](const ssh::HostOutcome& host) { return host.result.ok(); });
  return all ? static_cast<int>(kSuccess) : code;
}

Result<int> ListRuns(App& app, const client::Context& context, const ExecOptions& options,
                     const core::Job& job, std::vector<ssh::FanOutHost> hosts) {
  client::ExecRuns runs(context, job);
  views::ExecRuns view{.job = job.id};
  JM_ASSIGN_OR_RETURN(view.hosts, runs.List(std::move(hosts), PatienceOf(options)));
  app.Show(view);
  const bool all = std::all_of(view.hosts.begin(), view.hosts.end(),
                               [](const auto& host) { return host.runs.ok(); });
  return static_cast<int>(all ? kSuccess : kTryLater);
}

}  // namespace

bool IsOfDetached(const ExecOptions& options) {
  return options.detach || options.runs || !options.follow.empty() || !options.stop.empty();
}

Result<int> RunDetached(App& app, const client::Context& context, const ExecOptions& options,
                        const core::Job& job, std::vector<ssh::FanOutHost> hosts) {
  client::Vouching vouching(context);
  vouching.CompleteAll(job, hosts);
  JM_TRY(MakeRoomForHosts(app, hosts.size()));
  const auto part = options.detach            ? Detach
                    : options.runs            ? ListRuns
                    : !options.follow.empty() ? FollowRun
                                              : StopRun;
  auto code = part(app, context, options, job, std::move(hosts));
  for (const std::string& first_use : context.Await(vouching.FirstUses())) app.Say(first_use);
  return code;
}

base::Status CheckDetached(const ExecOptions& options) {
  const int verbs = int{options.detach} + int{options.runs} + int{!options.follow.empty()} +
                    int{!options.stop.empty()} + int{options.tty} + int{options.rerun_failed};
  if (verbs > 1)
    return base::InvalidArgument(
        "--detach, --follow, --runs, --stop, --tty and --rerun-failed exclude each other");
  if (!options.name.empty() && !options.detach)
    return base::InvalidArgument("--name is for --detach");
  const bool takes_command = options.detach || !IsOfDetached(options);
  if (!takes_command && !options.order.words.empty())
    return base::InvalidArgument("CMD is for --detach: the run has its command",
                                 "jobman exec JOB --follow NAME");
  if (options.tty && (options.timeout > 0 || options.fold || !options.out.empty()))
    return base::InvalidArgument("--tty shows a terminal: without --timeout, --fold and --out");
  if (options.detach && (options.timeout > 0 || options.fold || !options.out.empty()))
    return base::InvalidArgument(
        "a detached run has no --timeout, --fold and --out",
        "timeout(1) ends it in time; --follow NAME takes --fold and --out");
  return base::Ok();
}

void AddDetached(CLI::App& command, const std::shared_ptr<ExecOptions>& options) {
  command.add_flag(
      "--detach", options->detach,
      "Begin it on the hosts, where it goes on without a connection, and print its name");
  command
      .add_option("--name", options->name, "Of the detached run; without it the time is its name")
      ->type_name("NAME");
  command
      .add_option("--follow", options->follow,
                  "Show the output of that detached run from its beginning, until it has ended")
      ->type_name("NAME");
  command.add_flag("--runs", options->runs, "List the detached runs");
  command.add_option("--stop", options->stop, "Stop that detached run: TERM, then KILL")
      ->type_name("NAME");
}

}  // namespace jobman::cli
