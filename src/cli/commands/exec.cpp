#include "cli/commands/exec.hpp"

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands.hpp"
#include "cli/exec_end.hpp"
#include "cli/exit_code.hpp"
#include "cli/file_limit.hpp"
#include "cli/seconds.hpp"
#include "cli/views/exec_result.hpp"
#include "cli/whole_number.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/client/find_jobs.hpp"
#include "jobman/client/input_feed.hpp"
#include "jobman/client/last_exec.hpp"
#include "jobman/client/run_until_stopped.hpp"
#include "jobman/client/vouching.hpp"

namespace jobman::cli {

using base::Result;

namespace {

/// Characters of numbers of hosts in a line.
constexpr std::size_t kNumbersShown = 40;

/// What to say of a signal that is sent to the hosts.
void SayStopping(App& app, const std::string& signal, const std::vector<int>& hosts) {
  if (hosts.empty()) return;
  const std::string next = signal == "TERM" ? "sends KILL" : "ends the wait";
  app.Say("sent " + signal + " to the command on " + base::Plural(std::ssize(hosts), "host") +
          ": " + base::ShortRanges(hosts, kNumbersShown) + "; Ctrl-C again " + next);
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
  ssh::FanOutOptions fan_out = PatienceOf(options);
  fan_out.ask_first = true;
  fan_out.limit = order.limit;
  fan_out.on_end = [&output](const ssh::BusyHosts& busy) { output.WaitFor(busy, true); };
  fan_out.on_look = [&output](const ssh::BusyHosts& busy) { output.WaitFor(busy, false); };
  return fan_out;
}

views::ExecResult ResultOf(core::JobId id, const ssh::FanOutResult& result,
                           const ExecOutput& output, const OutputPlace& place) {
  using Stream = client::OutFiles::Stream;
  views::ExecResult view{.job = id, .output = output.Texts(), .summary = result.Summary()};
  for (const ssh::HostOutcome& host : result.hosts) {
    const bool failed = !host.result.ok() || *host.result != 0;
    views::ExecResult::Row row{.host = host.host,
                               .brief = ssh::Brief(host),
                               .odd = output.OddOf(host.host, failed),
                               .timed_out = host.timed_out,
                               .may_go_on = host.may_go_on,
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

Result<int> NoneFailed(App& app, core::JobId id) {
  if (app.mode() == OutputMode::kJson) {
    JM_TRY(Print(app, {.job = id, .summary = ssh::FanOutResult{}.Summary()}));
  }
  app.Say("the last exec of job " + core::FormatJobId(id) + " failed on none of these hosts");
  return kSuccess;
}

}  // namespace

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

Result<int> ShowExecEnd(App& app, core::JobId id, const ssh::FanOutResult& result,
                        const ExecOutput& output, const OutputPlace& place) {
  const ExecEnd end = EndOf(result);
  views::ExecResult view = ResultOf(id, result, output, place);
  view.exit_code = end.code;
  JM_TRY(Print(app, view));
  if (!end.hint.empty()) app.Say("  " + end.hint);
  return end.code;
}

ssh::FanOutOptions PatienceOf(const ExecOptions& options) {
  constexpr int kTries = 3;
  ssh::FanOutOptions fan_out{.tries = kTries};
  if (options.patience > 0) fan_out.patience = std::chrono::seconds{options.patience};
  return fan_out;
}

namespace {

/// /dev/null, a pipe that nobody writes to any more, as from cron, or a file that was read.
bool IsKnownEmpty(int fd) {
  pollfd end = {.fd = fd, .events = POLLIN, .revents = 0};
  if (::poll(&end, 1, 0) == 1 && end.revents == POLLHUP) return true;
  struct stat one = {}, null = {};
  if (::fstat(fd, &one) != 0) return false;
  char next = 0;  // a size of 0 says nothing: files of /proc have it
  if (S_ISREG(one.st_mode)) return ::pread(fd, &next, 1, ::lseek(fd, 0, SEEK_CUR)) == 0;
  return S_ISCHR(one.st_mode) && ::stat("/dev/null", &null) == 0 && one.st_rdev == null.st_rdev;
}

bool HasInput(const App& app) {
  return app.input() >= 0 && !IsKnownEmpty(app.input());
}

Result<client::ExecOrder> OrderOf(const App& app, const ExecOptions& options,
                                  const std::optional<client::LastExec>& last) {
  client::ExecOrder given = options.order;
  if (options.timeout > 0) given.limit = std::chrono::seconds{options.timeout};
  if (last) return client::Again(std::move(given), HasInput(app), *last);
  return given;
}

/// What is read here goes to all hosts in step.
base::Status MakeRoom(App& app, std::size_t hosts) {
  if (HasInput(app)) return MakeRoomForAll("standard input", "run it without: </dev/null", hosts);
  return MakeRoomForHosts(app, hosts);
}

/// Runs it, and shows how it went.
Result<int> RunOn(App& app, const client::Context& context, const ExecOptions& options,
                  const core::Job& job, const client::ExecOrder& order,
                  std::vector<ssh::FanOutHost> hosts, const std::optional<client::LastExec>& last) {
  JM_TRY(MakeRoom(app, hosts.size()));
  JM_ASSIGN_OR_RETURN(const std::string line, client::Prepare(context, job, order, hosts));
  JM_ASSIGN_OR_RETURN(const OutputPlace place, PlaceOf(app, context, options, hosts));
  ExecOutput output(app, place, static_cast<int>(job.slice->hosts.size()), hosts.size());
  for (ssh::FanOutHost& host : hosts) output.Connect(host);
  client::Vouching vouching(context);
  vouching.CompleteAll(job, hosts);
  bool had_input = false;
  client::InputFeed input(context.loop->get_executor(), app.input());
  if (HasInput(app)) {
    for (ssh::FanOutHost& host : hosts) host.pace = input.Join();
    input.Start([&had_input](std::int64_t bytes) { had_input = bytes > 0; });
  }
  const client::StoppableRun run =
      client::RunUntilStopped(context, std::move(hosts), line, FanOutOf(options, order, output),
                              [&app](const std::string& signal, const std::vector<int>& which) {
                                SayStopping(app, signal, which);
                              });
  const ssh::FanOutResult& result = run.result;
  output.Finish();
  for (const std::string& first_use : context.Await(vouching.FirstUses())) app.Say(first_use);
  if (run.interrupted) return InterruptedEnd(job.id, run);
  const auto kept = client::KeepLastExec(context.paths, job.id,
                                         client::AfterExec(order, had_input, result, last));
  if (!kept.ok()) app.Say("--rerun-failed will not know of this: " + kept.error().ToString());
  return ShowExecEnd(app, job.id, result, output, place);
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
  JM_ASSIGN_OR_RETURN(const client::ExecOrder order, OrderOf(app, options, last));
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
  command
      ->add_option("-w,--host,--hosts", options->hosts.numbers,
                   "\"all\", or numbers and ranges: 0,3-7")
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
  command->add_flag("-c,--clean-libtpu", options->order.clean_libtpu,
                    "First remove libtpu's lock file and logs from /tmp, as podrun -c");
  command->add_flag("-i")->description(
      "As podrun -i; changes nothing: host 0 takes part unless it is left out");
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
