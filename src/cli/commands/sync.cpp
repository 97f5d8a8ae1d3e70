#include "jobman/client/sync.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>

#include "cli/commands.hpp"
#include "cli/exit_code.hpp"
#include "cli/views/synced.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/client/find_jobs.hpp"
#include "jobman/client/run_on_hosts.hpp"
#include "jobman/client/vouching.hpp"
#include "jobman/ssh/host_shell.hpp"
#include "jobman/ui/folding.hpp"

namespace jobman::cli {
namespace {

using base::Result;
using SyncClock = std::chrono::steady_clock;

struct SyncOptions {
  std::string folder = {};
  std::string target = {};
  std::string hosts = "all";
  std::vector<std::string> exclude = {};
  bool remove = false;
  bool dry_run = false;
};

/// "waiting 12s for host 1; 3.1 MB of 50 MB sent, 12 MB/s, 4s left".
std::string SyncText(const client::SyncProgress& now, base::Duration past, base::Duration sending) {
  if (now.busy.empty())
    return now.read > 0 ? base::FormatBytes(now.read) + " read here" : std::string{};
  std::string text =
      fmt::format("waiting {} for {}", base::FormatDuration(past), ui::HostsLabel(now.busy));
  if (now.sent == 0) return text;
  text += fmt::format("; {} of {} sent", base::FormatBytes(now.sent), base::FormatBytes(now.total));
  const double seconds = static_cast<double>(sending.count()) / 1000.0;
  if (seconds < 1) return text;
  const double rate = static_cast<double>(now.sent) / seconds;
  text += fmt::format(", {}/s", base::FormatBytes(static_cast<std::int64_t>(rate)));
  if (now.total <= now.sent) return text;
  const auto left = std::chrono::seconds(
      static_cast<std::int64_t>(static_cast<double>(now.total - now.sent) / rate) + 1);
  return text + fmt::format(", {} left", base::FormatDuration(left));
}

/// A line on the terminal for a sync that takes long, rewritten some times a second.
class SyncLine {
 public:
  explicit SyncLine(App& app) : app_(app) {}
  void operator()(const client::SyncProgress& progress) {
    const auto now = SyncClock::now();
    if (progress.sent == 0) sending_ = now;
    if (app_.mode() == OutputMode::kQuiet || now < next_) return;
    next_ = now + std::chrono::milliseconds{250};
    const auto past = std::chrono::floor<std::chrono::seconds>(now - began_);
    app_.terminal().SetStatus(
        SyncText(progress, past, std::chrono::duration_cast<base::Duration>(now - sending_)));
  }

 private:
  App& app_;
  SyncClock::time_point began_ = SyncClock::now();
  SyncClock::time_point sending_ = began_;
  SyncClock::time_point next_ = began_ + std::chrono::seconds{1};
};

/// That of the errors if they agree.
int ExitCodeOfSync(const client::Synced& synced) {
  int code = kSuccess;
  for (const auto& row : synced.hosts) {
    if (!row.error) continue;
    const int one = ExitCodeOf(*row.error);
    if (one == kCredentials) return one;
    code = code == kSuccess || code == one ? one : kJobFailed;
  }
  return code;
}

void ShowSync(App& app, const views::SyncResult& view, int code) {
  if (app.mode() == OutputMode::kJson) return app.ShowJson(ToJson(view));
  if (view.dry_run) app.terminal().Out(RenderChanges(view));
  // What is said is a message, with --quiet only if something failed.
  if (app.mode() == OutputMode::kText || code != kSuccess)
    app.terminal().Err(RenderText(view, app.terminal().err_style()));
}

Result<int> RunSync(App& app, const SyncOptions& options) {
  JM_ASSIGN_OR_RETURN(client::SyncOrder order, client::PlanSync(options.folder, options.target));
  order.exclude = options.exclude;
  order.remove = options.remove;
  order.dry_run = options.dry_run;
  JM_ASSIGN_OR_RETURN(const client::Context context, app.OpenForWriting());
  JM_ASSIGN_OR_RETURN(const core::JobId id,
                      context.Await(client::FindJob(context.stores.jobs, order.job)));
  JM_ASSIGN_OR_RETURN(const core::Job job, context.Await(context.stores.jobs->Get(id)));
  JM_ASSIGN_OR_RETURN(auto hosts, client::ChooseHosts(context.paths, job, options.hosts));
  client::Vouching vouching(context);
  vouching.CompleteAll(job, hosts);
  ssh::RaiseFileLimit();
  const auto began = SyncClock::now();
  auto synced = client::SyncToHosts(context, std::move(hosts), order, SyncLine(app));
  app.terminal().SetStatus({});
  for (const std::string& line : context.Await(vouching.FirstUses())) app.Say(line);
  if (!synced.ok()) return std::move(synced).error();
  const views::SyncResult view{
      .job = id,
      .dry_run = options.dry_run,
      .synced = std::move(*synced),
      .took = std::chrono::duration_cast<base::Duration>(SyncClock::now() - began)};
  const int code = ExitCodeOfSync(view.synced);
  ShowSync(app, view, code);
  return code;
}

}  // namespace

void AddSync(CLI::App& root, Invocation& chosen) {
  auto options = std::make_shared<SyncOptions>();
  CLI::App* command = root.add_subcommand(
      "sync",
      "Make a folder of the job's hosts equal to one of this machine, sending only what differs: "
      "jobman sync . JOB:code");
  command
      ->add_option("DIR", options->folder,
                   "A folder of this machine; what .gitignore names stays here")
      ->required();
  command
      ->add_option("TARGET", options->target,
                   "JOB:PATH, a folder in the home folder of the hosts unless PATH begins with /")
      ->required();
  command->add_option("-w,--host", options->hosts, "\"all\", or numbers and ranges: 0,3-7")
      ->type_name("HOSTS")
      ->capture_default_str();
  command
      ->add_option("--exclude", options->exclude,
                   "Leave out what matches, as a line of .gitignore would; may be repeated")
      ->type_name("PATTERN")
      ->take_all()
      ->allow_extra_args(false);
  command->add_flag("--delete", options->remove,
                    "Remove from the hosts' folder what is not here, but nothing that is excluded");
  command->add_flag("--dry-run", options->dry_run, "List what would change, and change nothing");
  command->callback(
      [options, &chosen] { chosen.run = [options](App& app) { return RunSync(app, *options); }; });
}

}  // namespace jobman::cli
