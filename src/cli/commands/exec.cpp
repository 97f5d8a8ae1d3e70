#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <map>
#include <memory>

#include "cli/awaited_hosts.hpp"
#include "cli/commands.hpp"
#include "cli/exit_code.hpp"
#include "cli/seconds.hpp"
#include "cli/views/exec_result.hpp"
#include "cli/whole_number.hpp"
#include "jobman/base/spill.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/client/exec_order.hpp"
#include "jobman/client/find_jobs.hpp"
#include "jobman/client/input_feed.hpp"
#include "jobman/client/run_on_hosts.hpp"
#include "jobman/client/vouching.hpp"
#include "jobman/ssh/host_shell.hpp"
#include "jobman/ui/prefixed_output.hpp"
#include "jobman/ui/text.hpp"

namespace jobman::cli {
namespace {

using base::Result;
using SteadyClock = std::chrono::steady_clock;

struct ExecOptions {
  std::string job = {};
  client::HostChoice hosts = {};
  client::ExecOrder order = {};
  bool fold = false;
  int patience = 0;  ///< seconds
  int timeout = 0;   ///< seconds; 0: none
};

/// Where the hosts' output goes: printed as it comes, or kept on disk to be folded.
class Output {
 public:
  Output(App& app, std::shared_ptr<base::Spill> kept, int host_count, std::size_t chosen)
      : app_(app),
        kept_(std::move(kept)),
        awaited_(chosen),
        raw_(app.mode() == OutputMode::kQuiet && chosen == 1),
        out_({.host_count = host_count, .split_carriage_returns = app.terminal().facts().out_tty},
             [&app, host_count](int host, std::string_view line, bool continued) {
               PrintLine(app.terminal(), ui::HostPrefix(host, host_count, continued), host, line);
             }),
        err_(
            {.host_count = host_count, .split_carriage_returns = app.terminal().facts().err_screen},
            [&app](std::string_view line) { app.terminal().ErrBytes(line); }) {}

  void Connect(ssh::FanOutHost& host) {
    host.on_login = [this, number = host.host] { awaited_.LoggedIn(number, SteadyClock::now()); };
    host.out = [this, number = host.host](std::string_view bytes) -> base::Status {
      Heard(number);
      if (kept_) return Keep(number, bytes);
      if (raw_)
        app_.terminal().OutBytes(bytes);
      else
        out_.Feed(number, bytes);
      app_.terminal().Flush();  // as it comes
      written_ = true;
      return StillRead();
    };
    host.err = [this, number = host.host](std::string_view bytes) -> base::Status {
      Heard(number);
      if (kept_) return Keep(number, bytes);
      if (raw_)
        app_.terminal().ErrBytes(bytes);
      else
        err_.Feed(number, bytes);
      return base::Ok();
    };
  }
  /// One line of the terminal, rewritten: 1,024 hosts take their time, and one may be dead.
  void WaitFor(const std::vector<int>& busy) {
    if (app_.mode() == OutputMode::kQuiet) return;
    // The reader of a pipe may still be about to show what it was given, on the same screen.
    const bool in_the_way = written_ && app_.terminal().facts().out_pipe;
    app_.terminal().SetStatus(in_the_way ? std::string{} : awaited_.Line(busy, SteadyClock::now()));
  }
  void Finish() {
    app_.terminal().SetStatus({});
    out_.Finish();
    err_.Finish();
    app_.terminal().Flush();
  }
  /// What was kept, by host.
  std::map<int, ui::HostText> Texts() const {
    std::map<int, ui::HostText> texts;
    for (const auto& [host, facts] : facts_) {
      texts[host] = {.facts = facts,
                     .read = [kept = kept_, host = host](const ui::TakePiece& take) {
                       return kept->Read(host, take);
                     }};
    }
    return texts;
  }

 private:
  /// The line gives way to what the last silent host says.
  void Heard(int host) {
    if (awaited_.Heard(host)) app_.terminal().SetStatus({});
  }
  static void PrintLine(ui::Terminal& terminal, const std::string& prefix, int host,
                        std::string_view line) {
    terminal.Out(ui::PaintHost(host, prefix, terminal.out_style()));
    terminal.OutBytes(line);
    if (!line.ends_with('\n')) terminal.OutBytes("\n");
  }
  base::Status Keep(int host, std::string_view bytes) {
    facts_[host].Add(bytes);
    return kept_->Append(host, bytes);
  }
  /// An error once nobody reads stdout: then the commands need not go on.
  base::Status StillRead() const {
    const int error = app_.terminal().out_error();
    if (error == 0) return base::Ok();
    return base::FromErrno(error, "writing to stdout");
  }

  App& app_;
  std::shared_ptr<base::Spill> kept_;  ///< none: printed as it comes
  std::map<int, ui::TextFacts> facts_ = {};
  AwaitedHosts awaited_;
  bool raw_;              ///< one host and --quiet: byte for byte
  bool written_ = false;  ///< a host's output was printed
  ui::PrefixedOutput out_;
  ui::PrefixedOutput err_;
};

/// Of one host the command's own, or why there is none. Of several 5 where a key was at fault: no
/// later try mends that. Says what to do, once.
int ExitCodeOfHosts(App& app, const ssh::FanOutResult& result) {
  if (result.AllOk()) return kSuccess;
  if (result.hosts.size() == 1) {
    const base::Result<int>& only = result.hosts.front().result;
    if (only.ok()) return *only;
    if (!only.error().hint.empty()) app.Say("  " + only.error().hint);
    return ExitCodeOf(only.error());
  }
  for (const ssh::HostOutcome& row : result.hosts) {
    if (row.result.ok() || ExitCodeOf(row.result.error()) != kCredentials) continue;
    if (!row.result.error().hint.empty()) app.Say("  " + row.result.error().hint);
    return kCredentials;
  }
  return kJobFailed;
}

base::Error WasInterrupted(core::JobId id) {
  return {.code = base::Code::kCancelled,
          .message = "interrupted; the command was sent TERM on the hosts where it ran",
          .hint = "see what runs there: jobman exec " + core::FormatJobId(id) +
                  " --patience 30s --fold -- ps x"};
}

/// With --fold and --json the output is shown at the end: until then it is on disk.
Result<std::shared_ptr<base::Spill>> MaybeSpill(App& app, const client::Context& context,
                                                const ExecOptions& options) {
  if (!options.fold && app.mode() != OutputMode::kJson) return std::shared_ptr<base::Spill>();
  JM_ASSIGN_OR_RETURN(base::Spill spill, base::Spill::Open(context.paths.home));
  return std::make_shared<base::Spill>(std::move(spill));
}

base::Status Print(App& app, const views::ExecResult& view) {
  if (app.mode() == OutputMode::kJson) {
    LargeJson texts;
    return texts.Print(views::ToJson(view, texts), app.terminal());
  }
  if (app.mode() == OutputMode::kQuiet) return base::Ok();
  JM_TRY(views::Folded(view).Print(app.terminal()));
  // stdout is what the hosts wrote, and nothing else.
  app.terminal().Flush();
  app.terminal().Err(RenderText(view, app.terminal().err_style()));
  return base::Ok();
}

Result<int> RunExec(App& app, const ExecOptions& options) {
  JM_ASSIGN_OR_RETURN(const client::Context context, app.OpenForWriting());
  JM_ASSIGN_OR_RETURN(const core::JobId id,
                      context.Await(client::FindJob(context.stores.jobs, options.job)));
  JM_ASSIGN_OR_RETURN(const core::Job job, context.Await(context.stores.jobs->Get(id)));
  JM_ASSIGN_OR_RETURN(auto hosts, client::ChooseHosts(context.paths, job, options.hosts));
  JM_ASSIGN_OR_RETURN(const std::string line, client::Prepare(context, job, options.order, hosts));
  JM_ASSIGN_OR_RETURN(auto kept, MaybeSpill(app, context, options));
  Output output(app, std::move(kept), static_cast<int>(job.slice->hosts.size()), hosts.size());
  for (ssh::FanOutHost& host : hosts) output.Connect(host);
  client::Vouching vouching(context);
  vouching.CompleteAll(job, hosts);
  client::InputFeed input(context.loop->get_executor(), app.input());
  if (app.input() >= 0) {
    for (ssh::FanOutHost& host : hosts) host.pace = input.Join();
    input.Start();
  }
  ssh::RaiseFileLimit();
  ssh::FanOutOptions fan_out{
      .ask_first = true,
      .on_end = [&output](const std::vector<int>& busy) { output.WaitFor(busy); },
      .on_look = [&output](const std::vector<int>& busy) { output.WaitFor(busy); }};
  if (options.timeout > 0) fan_out.limit = std::chrono::seconds{options.timeout};
  if (options.patience > 0) fan_out.patience = std::chrono::seconds{options.patience};
  const auto result = client::RunOnHosts(context, std::move(hosts), line, fan_out);
  output.Finish();
  for (const std::string& line : context.Await(vouching.FirstUses())) app.Say(line);
  if (!result) return WasInterrupted(id);
  views::ExecResult view{.job = id, .output = output.Texts(), .summary = result->Summary()};
  for (const ssh::HostOutcome& row : result->hosts) {
    view.rows.push_back({.host = row.host,
                         .exit_code = row.result.ok() ? std::optional(*row.result) : std::nullopt,
                         .error = row.result.ok() ? std::string{} : row.result.error().ToString(),
                         .took = row.took});
  }
  JM_TRY(Print(app, view));
  return ExitCodeOfHosts(app, *result);
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
  command->add_option("CMD", options->order.words, "The command; one word is a shell line")
      ->required();
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
  AddWorkdir(*command, options);
  command->add_flag("--job-env", options->order.job_env,
                    "Run it as the job's command: with its variables and secrets, in its folder, "
                    "conda or venv");
  command->add_flag("--clean-libtpu", options->order.clean_libtpu,
                    "First remove libtpu's lock file and logs from /tmp, as podrun -c");
  command->add_flag("--fold", options->fold, "Print output that several hosts share only once");
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
  command->callback([options, &chosen] {
    if (options->order.workdir == kAlone) options->order.workdir = "";
    chosen.run = [options](App& app) { return RunExec(app, *options); };
  });
}

}  // namespace jobman::cli
