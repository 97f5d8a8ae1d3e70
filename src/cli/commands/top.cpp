#include "jobman/client/top.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <utility>

#include "cli/awaited_hosts.hpp"
#include "cli/commands.hpp"
#include "cli/exit_code.hpp"
#include "cli/file_limit.hpp"
#include "cli/one_of.hpp"
#include "cli/seconds.hpp"
#include "cli/views/top.hpp"
#include "jobman/client/find_jobs.hpp"
#include "jobman/client/job_hosts.hpp"
#include "jobman/client/run_on_hosts.hpp"
#include "jobman/client/vouching.hpp"

namespace jobman::cli {
namespace {

using base::Result;
using client::TopHost;
using client::TopOrder;
using Instant = std::chrono::steady_clock::time_point;

/// How often a watch whose job has no hosts looks for new ones.
constexpr base::Duration kLookForHosts = std::chrono::seconds{1};

struct TopOptions {
  std::string job = {};
  std::string hosts = "all";
  std::string sort = "stragglers";
  std::string output = {};  ///< "wide"
  bool watch = false;
  int every = 5;     ///< seconds
  int patience = 0;  ///< likewise
};

constexpr std::array<std::pair<const char*, TopOrder>, 7> kOrders = {
    {{"stragglers", TopOrder::kStragglers},
     {"host", TopOrder::kHost},
     {"load", TopOrder::kLoad},
     {"cpu", TopOrder::kCpu},
     {"memory", TopOrder::kMemory},
     {"disk", TopOrder::kDisk},
     {"duty", TopOrder::kDuty}}};

std::vector<std::string> OrderWords() {
  std::vector<std::string> words;
  for (const auto& [word, order] : kOrders) words.emplace_back(word);
  return words;
}

TopOrder OrderOf(const std::string& word) {
  for (const auto& [known, order] : kOrders) {
    if (word == known) return order;
  }
  return TopOrder::kStragglers;
}

views::Top TopViewOf(App& app, const TopOptions& options, core::JobId job,
                     std::vector<TopHost> hosts) {
  client::MarkStragglers(hosts);
  client::SortHosts(hosts, OrderOf(options.sort));
  const int height = app.terminal().facts().height;
  return {.job = job,
          .hosts = std::move(hosts),
          .wide = options.output == "wide",
          .height = height > 0 ? std::max(1, height - 1) : 0};  // the cursor has a line, too
}

/// Of one host the code of its trouble; of several 5 where a key was at fault. Says what to do,
/// once.
int ExitCodeOfLooks(App& app, const std::vector<TopHost>& hosts) {
  int code = kSuccess;
  for (const TopHost& host : hosts) {
    if (!host.trouble) continue;
    const int own = ExitCodeOf(*host.trouble);
    if (code == kSuccess) code = hosts.size() == 1 ? own : kJobFailed;
    if (hosts.size() > 1 && own != kCredentials) continue;
    if (!host.trouble->hint.empty()) app.Say("  " + host.trouble->hint);
    return own;
  }
  return code;
}

/// The job's hosts, with the keys that the cloud vouches for.
Result<std::vector<ssh::FanOutHost>> HostsOf(const client::Context& context,
                                             const TopOptions& options, const core::Job& job,
                                             client::Vouching& vouching) {
  JM_ASSIGN_OR_RETURN(auto hosts, client::ChooseHosts(context.paths, job, options.hosts));
  vouching.CompleteAll(job, hosts);
  return hosts;
}

Result<int> LookOnce(App& app, const client::Context& context, const TopOptions& options,
                     const core::Job& job) {
  client::Vouching vouching(context);
  JM_ASSIGN_OR_RETURN(auto hosts, HostsOf(context, options, job, vouching));
  JM_TRY(MakeRoomForHosts(app, hosts.size()));
  AwaitedHosts awaited(hosts.size());
  const auto wait_for = [&app, &awaited](const ssh::BusyHosts& busy) {
    if (app.mode() == OutputMode::kQuiet || !app.terminal().facts().err_tty) return;
    app.terminal().SetStatus(awaited.Line(busy(), std::chrono::steady_clock::now()));
  };
  ssh::FanOutOptions fan_out{.on_end = wait_for, .on_look = wait_for};
  if (options.patience > 0) fan_out.patience = std::chrono::seconds{options.patience};
  auto looks = client::LookAtHosts(context, std::move(hosts), std::move(fan_out));
  app.terminal().SetStatus({});
  for (const std::string& line : context.Await(vouching.FirstUses())) app.Say(line);
  if (!looks) return app.EndOfWait();
  const views::Top view = TopViewOf(app, options, job.id, std::move(*looks));
  app.Show(view);
  return ExitCodeOfLooks(app, view.hosts);
}

/// On a terminal the table is painted again when something has changed; elsewhere each change
/// prints a new one (or a line of JSON), as often as hosts are looked at.
class TopPicture {
 public:
  TopPicture(App& app, const TopOptions& options, core::JobId job)
      : app_(app), options_(options), job_(job) {}

  bool Show(const std::vector<TopHost>& hosts, bool changed) {
    if (!app_.LookAgain()) return false;
    const ui::Facts& facts = app_.terminal().facts();
    const std::pair size(facts.width, facts.height);
    changed_ = changed_ || changed || std::exchange(size_, size) != size;
    if (!changed_ || !IsTime(hosts)) return true;
    changed_ = false;
    Paint(TopViewOf(app_, options_, job_, hosts));
    return app_.LookAgain();
  }

 private:
  /// The first table of a pipe is to be whole, if that is soon.
  bool IsTime(const std::vector<TopHost>& hosts) {
    if (app_.terminal().facts().out_tty && app_.mode() == OutputMode::kText) return true;
    constexpr std::chrono::seconds kSoon{10};
    const Instant now = std::chrono::steady_clock::now();
    if (now < next_) return false;
    const bool whole = std::all_of(hosts.begin(), hosts.end(),
                                   [](const TopHost& host) { return host.look || host.trouble; });
    if (!whole && now < begin_ + kSoon) return false;
    next_ = now + std::chrono::seconds{options_.every};
    return true;
  }
  void Paint(const views::Top& view) {
    ui::Terminal& terminal = app_.terminal();
    if (app_.mode() == OutputMode::kJson) {
      app_.ShowJsonLine(ToJson(view));
      return;
    }
    terminal.ClearScreen();
    app_.Show(view);
    if (!terminal.facts().out_tty) terminal.Out("\n");
  }

  App& app_;
  const TopOptions& options_;
  core::JobId job_;
  bool changed_ = true;
  std::pair<int, int> size_ = {};
  Instant begin_ = std::chrono::steady_clock::now();
  Instant next_ = {};  ///< when the next table may be printed
};

/// Until the job has hosts again, as after a preemption, or is over; false if interrupted.
Result<bool> WaitForHosts(App& app, const client::Context& context, core::Job* job) {
  bool go_on = true;
  while (go_on && !client::HasHosts(*job) && !client::WhyOver(*job)) {
    app.terminal().SetStatus(client::WaitsFor(*job));
    go_on = context.pause(kLookForHosts);
    JM_ASSIGN_OR_RETURN(*job, context.Await(context.stores.jobs->Get(job->id)));
  }
  app.terminal().SetStatus({});
  return go_on;
}

Result<int> WatchJob(App& app, const client::Context& context, const TopOptions& options,
                     core::Job job) {
  while (true) {
    client::Vouching vouching(context);
    JM_ASSIGN_OR_RETURN(auto hosts, HostsOf(context, options, job, vouching));
    JM_TRY(MakeRoomForAll("--watch", "look once", hosts.size()));
    TopPicture picture(app, options, job.id);
    const client::WatchEnd end =
        client::WatchHosts(context, job, std::move(hosts), std::chrono::seconds{options.every},
                           [&picture](const std::vector<TopHost>& states, bool changed) {
                             return picture.Show(states, changed);
                           });
    for (const std::string& line : context.Await(vouching.FirstUses())) app.Say(line);
    if (end != client::WatchEnd::kMoved) return app.EndOfWait();
    JM_ASSIGN_OR_RETURN(job, context.Await(context.stores.jobs->Get(job.id)));
    JM_ASSIGN_OR_RETURN(const bool go_on, WaitForHosts(app, context, &job));
    if (!go_on) return app.EndOfWait();
  }
}

Result<int> RunTop(App& app, const TopOptions& options) {
  JM_ASSIGN_OR_RETURN(const client::Context context, app.OpenForWriting());
  JM_ASSIGN_OR_RETURN(const core::JobId id,
                      context.Await(client::FindJob(context.stores.jobs, options.job)));
  JM_ASSIGN_OR_RETURN(core::Job job, context.Await(context.stores.jobs->Get(id)));
  if (options.watch) return WatchJob(app, context, options, std::move(job));
  return LookOnce(app, context, options, job);
}

}  // namespace

void AddTop(CLI::App& root, Invocation& chosen) {
  auto options = std::make_shared<TopOptions>();
  CLI::App* command = root.add_subcommand(
      "top",
      "How the job's hosts do: load, memory, disks, chips and who holds them; odd ones first");
  command->add_option("JOB", options->job, "Number or name")->required();
  command->add_option("-w,--host", options->hosts, "\"all\", or numbers and ranges: 0,3-7")
      ->type_name("HOSTS")
      ->capture_default_str();
  CLI::Option* watch =
      command->add_flag("--watch", options->watch, "Show again whenever something changes");
  command->add_option("--every", options->every, "How often --watch looks at the hosts: 2s, 1m")
      ->needs(watch)
      ->type_name("TIME")
      ->transform(Seconds(1, 3600))
      ->capture_default_str();
  command
      ->add_option("--sort", options->sort,
                   "By how far hosts are from the others, by number, or by a measure")
      ->type_name("COLUMN")
      ->check(OneOf(OrderWords()))
      ->capture_default_str();
  command->add_option("-o,--output", options->output, "wide: a row per chip")
      ->check(OneOf({"wide"}));
  command
      ->add_option("--patience", options->patience,
                   "Keep trying hosts that cannot be reached: 60s, 5m")
      ->excludes(watch)  // which does so anyway
      ->type_name("TIME")
      ->transform(Seconds(0, 86400))
      ->capture_default_str();
  command->callback(
      [options, &chosen] { chosen.run = [options](App& app) { return RunTop(app, *options); }; });
}

}  // namespace jobman::cli
