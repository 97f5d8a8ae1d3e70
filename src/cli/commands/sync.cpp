#include "jobman/client/sync.hpp"

#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>

#include "cli/commands.hpp"
#include "cli/copy_line.hpp"
#include "cli/exit_code.hpp"
#include "cli/file_limit.hpp"
#include "cli/views/synced.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/client/find_jobs.hpp"
#include "jobman/client/run_on_hosts.hpp"
#include "jobman/client/vouching.hpp"

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

/// What is read here first, and then what is sent, as for a copy.
class SyncLine {
 public:
  SyncLine(App& app, int hosts) : app_(app), sending_(app), hosts_(hosts) {}
  void operator()(const client::SyncProgress& now) {
    if (!now.busy.empty()) {
      sending_({.bytes = now.sent, .total = now.total, .hosts = hosts_, .busy = now.busy});
    } else if (app_.mode() != OutputMode::kQuiet && now.read > 0 && SyncClock::now() >= next_) {
      next_ = SyncClock::now() + std::chrono::milliseconds{250};
      app_.terminal().SetStatus(base::FormatBytes(now.read) + " read here");
    }
  }

 private:
  App& app_;
  CopyLine sending_;
  int hosts_;
  SyncClock::time_point next_ = SyncClock::now() + std::chrono::seconds{1};
};

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
  order.peers = client::PeersOf(job);
  JM_ASSIGN_OR_RETURN(auto hosts, client::ChooseHosts(context.paths, job, options.hosts));
  client::Vouching vouching(context);
  vouching.CompleteAll(job, hosts);
  JM_TRY(MakeRoomForHosts(app, hosts.size()));
  const auto count = static_cast<int>(hosts.size());
  const auto began = SyncClock::now();
  auto synced = client::SyncToHosts(context, std::move(hosts), order, SyncLine(app, count));
  app.terminal().SetStatus({});
  for (const std::string& line : context.Await(vouching.FirstUses())) app.Say(line);
  if (!synced.ok()) return std::move(synced).error();
  const views::SyncResult view{
      .job = id,
      .dry_run = options.dry_run,
      .synced = std::move(*synced),
      .took = std::chrono::duration_cast<base::Duration>(SyncClock::now() - began)};
  const int code = ExitCodeOfRows(view.synced.hosts);
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
