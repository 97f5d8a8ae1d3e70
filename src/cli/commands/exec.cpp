#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/commands.hpp"
#include "cli/exec_end.hpp"
#include "cli/exec_output.hpp"
#include "cli/exit_code.hpp"
#include "cli/openssh_login.hpp"
#include "cli/seconds.hpp"
#include "cli/views/exec_result.hpp"
#include "cli/views/exec_runs.hpp"
#include "cli/whole_number.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/client/exec_order.hpp"
#include "jobman/client/exec_runs.hpp"
#include "jobman/client/find_jobs.hpp"
#include "jobman/client/input_feed.hpp"
#include "jobman/client/last_exec.hpp"
#include "jobman/client/run_on_hosts.hpp"
#include "jobman/client/run_until_stopped.hpp"
#include "jobman/client/times.hpp"
#include "jobman/client/vouching.hpp"
#include "jobman/remote/direct_command.hpp"
#include "jobman/ssh/host_shell.hpp"

namespace jobman::cli {
namespace {

using base::Result;

/// Characters of numbers of hosts in a line.
constexpr std::size_t kNumbersShown = 40;
/// What a host says before the path of a file that it was sent; and of how much is looked for it.
constexpr std::string_view kFileIs = "jobman-file ";
constexpr std::size_t kLongestAnswer = 64 * 1024;

struct ExecOptions {
  std::string job = {};
  client::HostChoice hosts = {};
  client::ExecOrder order = {};
  bool fold = false;
  std::string out = {};  ///< a folder; empty: none
  bool force = false;    ///< what an earlier command wrote there may go
  int patience = 0;      ///< seconds
  int timeout = 0;       ///< seconds; 0: none
  bool rerun_failed = false;
  bool detach = false;
  std::string name = {};    ///< of the detached run; empty: by the time
  std::string follow = {};  ///< the name of one
  std::string stop = {};    ///< likewise
  bool runs = false;
  bool tty = false;
};

/// What to say of a signal that is sent to the hosts.
void SayStopping(App& app, const std::string& signal, const std::vector<int>& hosts) {
  if (hosts.empty()) return;
  const std::string next = signal == "TERM" ? "sends KILL" : "ends the wait";
  app.Say("sent " + signal + " to the command on " + base::Plural(std::ssize(hosts), "host") +
          ": " + base::ShortRanges(hosts, kNumbersShown) + "; Ctrl-C again " + next);
}

/// With --fold and --json the output is shown at the end: until then it is on disk.
Result<OutputPlace> PlaceOf(App& app, const client::Context& context, const ExecOptions& options,
                            const std::vector<ssh::FanOutHost>& hosts) {
  OutputPlace place;
  if (!options.out.empty()) {
    std::vector<int> numbers;
    for (const ssh::FanOutHost& host : hosts) numbers.push_back(host.host);
    JM_ASSIGN_OR_RETURN(client::OutFiles files,
                        client::OutFiles::Create(options.out, numbers, options.force));
    place.files = std::make_shared<client::OutFiles>(std::move(files));
  } else if (options.fold || app.mode() == OutputMode::kJson) {
    JM_ASSIGN_OR_RETURN(base::Spill spill, base::Spill::Open(context.paths.home));
    place.kept = std::make_shared<base::Spill>(std::move(spill));
  }
  return place;
}

base::Status Print(App& app, const views::ExecResult& view) {
  if (app.mode() == OutputMode::kJson) {
    LargeJson texts;
    JM_ASSIGN_OR_RETURN(const std::string in_short, views::InShort(view));
    base::OrderedJson json = views::ToJson(view, texts);
    json["in_short"] = in_short.empty() ? base::OrderedJson() : base::OrderedJson(in_short);
    return texts.Print(json, app.terminal());
  }
  // stdout is what the hosts wrote, and nothing else.
  JM_TRY(views::Folded(view).Print(app.terminal()));
  app.terminal().Flush();
  if (app.mode() == OutputMode::kQuiet) return base::Ok();
  JM_ASSIGN_OR_RETURN(const std::string in_short, views::InShort(view));
  app.terminal().Err(RenderText(view, app.terminal().err_style()));
  if (!in_short.empty()) app.terminal().Err(in_short);
  return base::Ok();
}

ssh::FanOutOptions FanOutOf(const ExecOptions& options, const client::ExecOrder& order,
                            ExecOutput& output) {
  ssh::FanOutOptions fan_out{
      .ask_first = true,
      .on_end = [&output](const std::vector<int>& busy) { output.WaitFor(busy, true); },
      .on_look = [&output](const std::vector<int>& busy) { output.WaitFor(busy, false); }};
  fan_out.limit = order.limit;
  if (options.patience > 0) fan_out.patience = std::chrono::seconds{options.patience};
  return fan_out;
}

views::ExecResult ResultOf(core::JobId id, const ssh::FanOutResult& result,
                           const ExecOutput& output, const OutputPlace& place) {
  using Stream = client::OutFiles::Stream;
  views::ExecResult view{.job = id, .output = output.Texts(), .summary = result.Summary()};
  for (const ssh::HostOutcome& host : result.hosts) {
    views::ExecResult::Row row{.host = host.host,
                               .brief = ssh::Brief(host),
                               .timed_out = host.timed_out,
                               .took = host.took};
    if (host.result.ok())
      row.exit_code = *host.result;
    else
      row.error = host.result.error().ToString();
    if (place.files) row.out_file = place.files->PathOf(host.host, Stream::kOut).string();
    if (place.files && place.files->HasErr(host.host))
      row.err_file = place.files->PathOf(host.host, Stream::kErr).string();
    view.rows.push_back(std::move(row));
  }
  return view;
}

Result<client::ExecOrder> OrderOf(const ExecOptions& options,
                                  const std::optional<client::LastExec>& last) {
  client::ExecOrder given = options.order;
  if (options.timeout > 0) given.limit = std::chrono::seconds{options.timeout};
  if (last) return client::Again(std::move(given), *last);
  return given;
}

Result<int> NoneFailed(App& app, core::JobId id) {
  if (app.mode() == OutputMode::kJson) {
    JM_TRY(Print(app, {.job = id, .summary = ssh::FanOutResult{}.Summary()}));
  }
  app.Say("the last exec of job " + core::FormatJobId(id) + " failed on none of these hosts");
  return kSuccess;
}

/// Prints how the hosts ended; the exit code.
Result<int> ShowExecEnd(App& app, core::JobId id, const ssh::FanOutResult& result,
                        const ExecOutput& output, const OutputPlace& place) {
  const ExecEnd end = EndOf(result);
  views::ExecResult view = ResultOf(id, result, output, place);
  view.exit_code = end.code;
  JM_TRY(Print(app, view));
  if (!end.hint.empty()) app.Say("  " + end.hint);
  return end.code;
}

ssh::FanOutOptions Patience(const ExecOptions& options) {
  ssh::FanOutOptions fan_out;
  if (options.patience > 0) fan_out.patience = std::chrono::seconds{options.patience};
  return fan_out;
}

/// Runs it, and shows how it went.
Result<int> RunOn(App& app, const client::Context& context, const ExecOptions& options,
                  const core::Job& job, const client::ExecOrder& order,
                  std::vector<ssh::FanOutHost> hosts, const std::optional<client::LastExec>& last) {
  JM_ASSIGN_OR_RETURN(const std::string line, client::Prepare(context, job, order, hosts));
  JM_ASSIGN_OR_RETURN(const OutputPlace place, PlaceOf(app, context, options, hosts));
  ExecOutput output(app, place, static_cast<int>(job.slice->hosts.size()), hosts.size());
  for (ssh::FanOutHost& host : hosts) output.Connect(host);
  client::Vouching vouching(context);
  vouching.CompleteAll(job, hosts);
  client::InputFeed input(context.loop->get_executor(), app.input());
  if (app.input() >= 0) {
    for (ssh::FanOutHost& host : hosts) host.pace = input.Join();
    input.Start();
  }
  ssh::RaiseFileLimit();
  const client::StoppableRun run =
      client::RunUntilStopped(context, std::move(hosts), line, FanOutOf(options, order, output),
                              [&app](const std::string& signal, const std::vector<int>& which) {
                                SayStopping(app, signal, which);
                              });
  const ssh::FanOutResult& result = run.result;
  output.Finish();
  for (const std::string& first_use : context.Await(vouching.FirstUses())) app.Say(first_use);
  if (run.interrupted) return InterruptedEnd(job.id, result);
  const auto kept =
      client::KeepLastExec(context.paths, job.id, client::AfterExec(order, result, last));
  if (!kept.ok()) app.Say("--rerun-failed will not know of this: " + kept.error().ToString());
  return ShowExecEnd(app, job.id, result, output, place);
}

/// How `exec` ends when the runs of these hosts are interrupted while it follows them.
base::Error StillRuns(core::JobId id, const std::string& name) {
  return {.code = base::Code::kCancelled,
          .message = "interrupted; run " + name + " goes on",
          .hint = "jobman exec " + core::FormatJobId(id) + " --follow " + name +
                  " shows its output, --stop " + name + " ends it"};
}

Result<int> Detach(App& app, const client::Context& context, const ExecOptions& options,
                   const core::Job& job, std::vector<ssh::FanOutHost> hosts) {
  const std::string name = options.name.empty() ? client::ExecRunNameAt(app.Now()) : options.name;
  client::ExecRuns runs(context, job);
  JM_ASSIGN_OR_RETURN(ssh::FanOutResult begun,
                      runs.Begin(std::move(hosts), options.order, name, Patience(options)));
  const ExecEnd end = EndOf(begun);
  const views::ExecRunBegun view{.job = job.id, .name = name, .result = std::move(begun)};
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
  ssh::FanOutOptions fan_out = Patience(options);
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
                      runs.Stop(std::move(hosts), options.stop, Patience(options)));
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
  JM_ASSIGN_OR_RETURN(view.hosts, runs.List(std::move(hosts), Patience(options)));
  app.Show(view);
  const bool all = std::all_of(view.hosts.begin(), view.hosts.end(),
                               [](const auto& host) { return host.runs.ok(); });
  return static_cast<int>(all ? kSuccess : kTryLater);
}

bool IsOfDetached(const ExecOptions& options) {
  return options.detach || options.runs || !options.follow.empty() || !options.stop.empty();
}

/// The detached runs of the hosts, whose keys may be seen for the first time.
Result<int> RunDetached(App& app, const client::Context& context, const ExecOptions& options,
                        const core::Job& job, std::vector<ssh::FanOutHost> hosts) {
  client::Vouching vouching(context);
  vouching.CompleteAll(job, hosts);
  ssh::RaiseFileLimit();
  const auto part = options.detach            ? Detach
                    : options.runs            ? ListRuns
                    : !options.follow.empty() ? FollowRun
                                              : StopRun;
  auto code = part(app, context, options, job, std::move(hosts));
  for (const std::string& first_use : context.Await(vouching.FirstUses())) app.Say(first_use);
  return code;
}

/// The line for a login shell that has a terminal. What --job-env adds is sent before.
Result<std::string> LineOnTerminal(const client::Context& context, const ExecOptions& options,
                                   const core::Job& job, const ssh::FanOutHost& host) {
  std::vector<ssh::FanOutHost> one = {host};
  if (!options.order.job_env) return client::Prepare(context, job, options.order, one);
  JM_ASSIGN_OR_RETURN(const remote::TerminalCall call,
                      client::PrepareOnTerminal(context, job, options.order, host.host));
  std::string said;
  one.front().command = call.put;
  one.front().input = call.content;
  one.front().out = [&said](std::string_view bytes) -> base::Status {
    if (said.size() < kLongestAnswer) said += bytes;
    return base::Ok();
  };
  const client::StoppableRun put =
      client::RunUntilStopped(context, std::move(one), {}, Patience(options), {});
  if (!put.result.hosts.front().result.ok()) return put.result.hosts.front().result.error();
  for (const std::string& line : base::Split(said, '\n'))
    if (line.starts_with(kFileIs)) return call.LineFor(line.substr(kFileIs.size()));
  return base::Error{.code = base::Code::kFailedPrecondition,
                     .message = "the host did not take the environment of the job",
                     .hint = "is there room in /dev/shm or /tmp?"};
}

Result<int> RunOnTerminal(App& app, const client::Context& context, const ExecOptions& options,
                          const core::Job& job, std::vector<ssh::FanOutHost> hosts) {
  if (hosts.size() != 1)
    return base::InvalidArgument(
        "--tty is for one host, and " + base::Plural(std::ssize(hosts), "host") + " are chosen",
        "choose one: --host 0");
  const std::string instead = "jobman exec " + options.job + " -- CMD";
  JM_TRY(CheckUserIsKnown(instead));
  client::Vouching vouching(context);
  vouching.CompleteAll(job, hosts);
  JM_ASSIGN_OR_RETURN(std::string line, LineOnTerminal(context, options, job, hosts.front()));
  return BecomeOpenSsh(
      app, context, job,
      {.host = hosts.front().host, .words = {line}, .terminal = true, .instead = instead});
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

base::Status CheckOptions(const ExecOptions& options) {
  JM_TRY(CheckDetached(options));
  const bool has_command = options.rerun_failed || (IsOfDetached(options) && !options.detach);
  if (options.order.words.empty() && !has_command)
    return base::InvalidArgument("CMD is required", "jobman exec JOB -- CMD");
  if (options.fold && !options.out.empty())
    return base::InvalidArgument("--fold prints the output and --out does not: choose one");
  if (options.force && options.out.empty())
    return base::InvalidArgument("--force is for the files of --out");
  return base::Ok();
}

Result<int> RunExec(App& app, const ExecOptions& options) {
  JM_TRY(CheckOptions(options));
  JM_ASSIGN_OR_RETURN(const client::Context context, app.OpenForWriting());
  JM_ASSIGN_OR_RETURN(const core::JobId id,
                      context.Await(client::FindJob(context.stores.jobs, options.job)));
  JM_ASSIGN_OR_RETURN(const core::Job job, context.Await(context.stores.jobs->Get(id)));
  if (options.tty) {
    JM_ASSIGN_OR_RETURN(auto one, client::ChooseHosts(context.paths, job, options.hosts));
    return RunOnTerminal(app, context, options, job, std::move(one));
  }
  if (IsOfDetached(options)) {
    JM_ASSIGN_OR_RETURN(auto chosen, client::ChooseHosts(context.paths, job, options.hosts));
    return RunDetached(app, context, options, job, std::move(chosen));
  }
  std::optional<client::LastExec> last;
  if (options.rerun_failed) {
    JM_ASSIGN_OR_RETURN(last, client::ReadLastExec(context.paths, id));
    if (!last) return NoneFailed(app, id);
  }
  JM_ASSIGN_OR_RETURN(const client::ExecOrder order, OrderOf(options, last));
  JM_ASSIGN_OR_RETURN(auto hosts, client::ChooseHosts(context.paths, job, options.hosts));
  if (last) client::KeepFailed(*last, hosts);
  if (hosts.empty()) return NoneFailed(app, id);
  return RunOn(app, context, options, job, order, std::move(hosts), last);
}

/// What CLI11 makes of a flag of text that stands alone.
constexpr const char* kAlone = "true";

/// Its value must be joined by "=": a word of its own would be taken from JOB or CMD.
void AddWorkdir(CLI::App& command, const std::shared_ptr<ExecOptions>& options) {
  command
      .add_flag("--workdir", options->order.workdir,
                "Begin in that folder of the hosts; without =DIR in that of the job's command or "
                "code, else in the same as here")
      ->type_name("[=DIR]");
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

}  // namespace

void AddExec(CLI::App& root, Invocation& chosen) {
  auto options = std::make_shared<ExecOptions>();
  CLI::App* command = root.add_subcommand("exec",
                                          "Run one command on the job's hosts: jobman exec JOB -- "
                                          "hostname; standard input goes to each host");
  command->add_option("JOB", options->job, "Number or name")->required();
  command->add_option("CMD", options->order.words,
                      "The command; one word is a shell line, NAME=VALUE words before it are its "
                      "environment");
  command->add_option("-w,--host", options->hosts.numbers, "\"all\", or numbers and ranges: 0,3-7")
      ->type_name("HOSTS")
      ->capture_default_str();
  command->add_option("--exclude", options->hosts.excluded, "Not these: 0, or 3,8-15")
      ->type_name("HOSTS");
  command
      ->add_option("--slice", options->hosts.slice,
                   "Only the hosts of this slice of a multislice, from 0; they keep their numbers")
      ->type_name("N")
      ->transform(WholeNumber(0, 100000));
  command->add_flag(
      "--rerun-failed", options->rerun_failed,
      "Only on the hosts where the job's last exec failed; without CMD the same again");
  AddWorkdir(*command, options);
  command->add_flag("--job-env", options->order.job_env,
                    "Run it as the job's command: with its variables and secrets, in its folder, "
                    "conda or venv");
  command->add_flag("--clean-libtpu", options->order.clean_libtpu,
                    "First remove libtpu's lock file and logs from /tmp, as podrun -c");
  command->add_flag("--fold", options->fold, "Print output that several hosts share only once");
  command
      ->add_option("--out", options->out,
                   "Print nothing, but write what each host prints to DIR/host-0003.out and .err")
      ->type_name("DIR");
  command->add_flag("--force", options->force, "--out may replace the files of an earlier command");
  command
      ->add_option("--patience", options->patience,
                   "Keep trying hosts that cannot be reached or do not answer: 60s, 5m")
      ->type_name("TIME")
      ->transform(Seconds(0, 86400))
      ->capture_default_str();
  command
      ->add_option("--timeout", options->timeout,
                   "How long the command may take on each host; then it is sent TERM: 90s, 1h")
      ->type_name("TIME")
      ->transform(Seconds(1, 30 * 86400));
  AddDetached(*command, options);
  command->add_flag(
      "--tty", options->tty,
      "On one host, with a terminal: editors, debuggers, htop; by the OpenSSH client");
  command->callback([options, &chosen] {
    if (options->order.workdir == kAlone) options->order.workdir = "";
    chosen.run = [options](App& app) { return RunExec(app, *options); };
  });
}

}  // namespace jobman::cli
