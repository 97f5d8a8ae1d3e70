#include <signal.h>

#include <CLI/CLI.hpp>
#include <asio/signal_set.hpp>
#include <memory>

#include "cli/adapters.hpp"
#include "cli/commands.hpp"
#include "cli/seconds.hpp"
#include "cli/views/controller_status.hpp"
#include "jobman/base/env.hpp"
#include "jobman/base/log.hpp"
#include "jobman/client/background_controller.hpp"
#include "jobman/controller/controller.hpp"
#include "jobman/ssh/file_limit.hpp"
#include "jobman/ssh/ssh_library.hpp"

namespace jobman::cli {
namespace {

/// One in the background stays as long as its connections: until then a command may use them.
constexpr base::Duration kIdleExit = kLongestIdle;

constexpr int InSeconds(base::Duration duration) {
  return static_cast<int>(std::chrono::duration_cast<std::chrono::seconds>(duration).count());
}

struct RunOptions {
  bool background = false;
  int poll_seconds = InSeconds(core::kPoll);
  int host_limit_seconds = InSeconds(controller::kUnreachableLimit);
  int provisioning_limit_seconds = InSeconds(core::kProvisioningLimit);
  int lease_seconds = InSeconds(controller::kLeaseTime);
};

base::LogLevel LevelOf(const App& app) {
  return app.options().verbose ? base::LogLevel::kDebug : base::LogLevel::kInfo;
}

/// In the foreground; --quiet leaves what must be mended.
base::LogLevel LevelOnTerminal(const App& app) {
  return app.mode() == OutputMode::kQuiet ? base::LogLevel::kError : LevelOf(app);
}

base::Result<int> RunController(App& app, const RunOptions& options) {
  // First, so that what opening the store says of its place is in the log.
  base::StartLog({}, LevelOnTerminal(app), base::GetEnv("JOBMAN_TRACE").value_or(""));
  JM_ASSIGN_OR_RETURN(const client::Context context, app.OpenForWriting());
  ssh::RaiseFileLimit();
  JM_TRY(ssh::OpenSshLibrary());  // while descriptors are free for its files
  asio::io_context loop;
  ControllerAdapters adapters(loop, context.paths, context.stores);
  controller::Options settings{.paths = context.paths};
  settings.policy.poll = std::chrono::seconds{options.poll_seconds};
  settings.policy.provisioning_limit = std::chrono::seconds{options.provisioning_limit_seconds};
  settings.unreachable_limit = std::chrono::seconds{options.host_limit_seconds};
  settings.lease_time = std::chrono::seconds{options.lease_seconds};
  settings.ssh_config = true;
  if (options.background) settings.idle_exit = kIdleExit;
  controller::Controller controller(loop, adapters.Get(), settings);
  asio::signal_set signals(loop, SIGINT, SIGTERM);
  signals.async_wait([&controller](std::error_code error, int) {
    if (!error) controller.Stop();
  });
  const base::Status ended = base::RunTask(loop, controller.Run());
  if (ended.ok()) return kSuccess;
  // Of two started at the same time, one finds the lease taken: not a failure.
  const bool second = options.background && ended.error().code == base::Code::kAborted;
  if (second) return kSuccess;
  return ended.error();
}

base::Result<int> RunTick(App& app, int bound_seconds) {
  JM_ASSIGN_OR_RETURN(const client::Context context, app.OpenForWriting());
  base::StartLog(context.paths.ControllerLog(), LevelOf(app),
                 base::GetEnv("JOBMAN_TRACE").value_or(""));
  ssh::RaiseFileLimit();
  asio::io_context loop;
  ControllerAdapters adapters(loop, context.paths, context.stores);
  const controller::Options settings{.paths = context.paths, .ssh_config = true};
  controller::Controller controller(loop, adapters.Get(), settings);
  const base::Status ended =
      base::RunTask(loop, controller.Tick(std::chrono::seconds{bound_seconds}));
  if (!ended.ok()) return ended.error();
  if (app.mode() == OutputMode::kJson) {
    JM_ASSIGN_OR_RETURN(const auto active, context.Await(context.stores.jobs->ActiveVersions()));
    app.ShowJson({{"active", active.size()}});
  }
  return kSuccess;
}

base::Result<int> ShowStatus(App& app) {
  JM_ASSIGN_OR_RETURN(const client::Context context, app.OpenForReading());
  JM_ASSIGN_OR_RETURN(const auto lease,
                      context.Await(client::LiveController(context.stores.leases, context.Now())));
  views::ControllerStatus view{.log = context.paths.ControllerLog().string()};
  if (lease) view.holder = lease->holder;
  const base::Status can_work = client::ControllerCanWork(context.paths);
  if (!lease && !can_work.ok()) view.trouble = can_work.error();
  app.Show(view);
  return lease ? kSuccess : kNotFound;
}

base::Result<int> StartInBackground(App& app) {
  JM_ASSIGN_OR_RETURN(const client::Context context, app.OpenForWriting());
  JM_ASSIGN_OR_RETURN(const auto before,
                      context.Await(client::LiveController(context.stores.leases, context.Now())));
  JM_TRY(context.Await(client::EnsureController(context)));
  if (app.mode() == OutputMode::kJson) {
    app.ShowJson({{"started", !before.has_value()}});
  } else {
    app.Say(before ? "a controller is running already: " + controller::HolderText(before->holder)
                   : "the controller is running; it ends by itself five minutes after nothing is "
                     "left to do");
  }
  return kSuccess;
}

base::Result<int> StopController(App& app) {
  // A copy of a store names the original's controller.
  JM_ASSIGN_OR_RETURN(const client::Context context, app.OpenForReading(Elsewhere::kRefuse));
  JM_ASSIGN_OR_RETURN(const bool stopped, client::StopController(context));
  if (app.mode() == OutputMode::kJson)
    app.ShowJson({{"stopped", stopped}});
  else
    app.Say(stopped ? "the controller is stopped; runs on hosts go on" : "no controller runs");
  return kSuccess;
}

}  // namespace

void AddController(CLI::App& root, Invocation& chosen) {
  CLI::App* command = root.add_subcommand("controller", "The process that does the work of jobs");
  command->require_subcommand(1);
  auto options = std::make_shared<RunOptions>();
  CLI::App* run = command->add_subcommand("run", "Run it here, in the foreground");
  run->add_flag("--background", options->background, "End when nothing is left to do")->group("");
  run->add_option("--poll", options->poll_seconds, "Longest time between two looks at the cloud")
      ->type_name("TIME")
      ->transform(Seconds(1, 3600))
      ->capture_default_str();
  run->add_option("--host-limit", options->host_limit_seconds,
                  "Give up a host after this time without contact while the cloud calls "
                  "its slice READY")
      ->type_name("TIME")
      ->transform(Seconds(1, 86400))
      ->capture_default_str();
  run->add_option("--provisioning-limit", options->provisioning_limit_seconds,
                  "Give up a slice that is not READY this long after it left the queue")
      ->type_name("TIME")
      ->transform(Seconds(1, 604800))
      ->capture_default_str();
  run->add_option("--lease", options->lease_seconds,
                  "Let another controller take over after this time of silence")
      ->type_name("TIME")
      ->transform(Seconds(1, 3600))
      ->capture_default_str();
  run->callback([options, &chosen] {
    chosen.run = [options](App& app) { return RunController(app, *options); };
  });
  command->add_subcommand("start", "Start it in the background, unless one runs")
      ->callback([&chosen] { chosen.run = StartInBackground; });
  command->add_subcommand("status", "Whether a controller runs, and where")->callback([&chosen] {
    chosen.run = ShowStatus;
  });
  command->add_subcommand("stop", "Stop it; runs on hosts go on")->callback([&chosen] {
    chosen.run = StopController;
  });
  AddService(*command, chosen);
}

void AddTick(CLI::App& root, Invocation& chosen) {
  auto bound = std::make_shared<int>(50);
  CLI::App* command = root.add_subcommand("tick", "One pass over everything that is due, for cron");
  command->add_option("--bound", *bound, "Stop after this time")
      ->type_name("TIME")
      ->transform(Seconds(1, 3600))
      ->capture_default_str();
  command->callback(
      [bound, &chosen] { chosen.run = [bound](App& app) { return RunTick(app, *bound); }; });
}

}  // namespace jobman::cli
