#include <CLI/CLI.hpp>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "cli/commands.hpp"
#include "cli/views/service.hpp"
#include "jobman/base/env.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/client/background_controller.hpp"
#include "jobman/client/service.hpp"

namespace jobman::cli {
namespace {

struct InstallOptions {
  bool cron = false;
  bool print = false;
  bool yes = false;
};

/// The path by which this program is found, if one leads here: an upgrade changes where the link
/// leads to, and removes the folder of this version some day.
base::Path LastingProgram() {
  base::Path self = base::SelfExe();
  // bin/jobman beside lib/jobman/VERSION/bin/jobman, where install.sh puts it.
  std::vector<base::Path> candidates = {
      self.parent_path().parent_path().parent_path().parent_path().parent_path() / "bin" /
      self.filename()};
  for (const std::string& folder : base::Split(base::GetEnv("PATH").value_or(""), ':'))
    candidates.push_back(base::Path(folder) / self.filename());
  for (const base::Path& candidate : candidates) {
    std::error_code failed;
    if (candidate.is_absolute() && std::filesystem::canonical(candidate, failed) == self)
      return candidate.lexically_normal();
  }
  return self;
}

client::ServiceOrder OrderFor(const client::Context& context) {
  client::ServiceOrder order{.program = LastingProgram(),
                             .home = context.paths.home,
                             .environment = client::ServiceEnvironment()};
  if (!context.look_at_site) return order;
  const core::Site site = context.look_at_site(context.paths);
  if (site.shared) order.only_host = site.host;
  return order;
}

void SayWhatIsNext(App& app, const client::Context& context, const client::ServicePlan& plan) {
  app.Say("the controller is started by " + views::ServiceWords(plan));
  const auto live = context.Await(client::LiveController(context.stores.leases, context.Now()));
  if (plan.kind == client::ServiceKind::kCron) {
    app.Say("on this machine only: after a reboot, and within 5 minutes when it has ended");
    return;
  }
  if (live.ok() && *live)
    app.Say(
        "one runs already, which had the environment of a command; the unit's takes over when it "
        "ends: to do that now, jobman controller stop");
  if (!context.Await(client::Lingers()))
    app.Say("next: loginctl enable-linger, or systemd stops it when you log out");
}

base::Result<int> RunInstall(App& app, const InstallOptions& options) {
  JM_ASSIGN_OR_RETURN(const client::Context context,
                      options.print ? app.OpenForReading() : app.OpenForWriting());
  JM_ASSIGN_OR_RETURN(const client::ServicePlan plan,
                      context.Await(client::PlanService(OrderFor(context), options.cron)));
  const views::Service view{.plan = plan};
  if (options.print) {
    app.Show(view);
    return kSuccess;
  }
  if (plan.installed) {
    if (app.mode() == OutputMode::kJson) app.ShowJson(ToJson(view));
    app.Say("the controller is started by " + views::ServiceWords(plan) + " already");
    return kSuccess;
  }
  if (!options.yes) {
    app.terminal().Err(std::string(base::Trim(RenderText(view, app.terminal().err_style()))));
    JM_ASSIGN_OR_RETURN(const bool may, app.Ask("write this, and start the controller?"));
    if (!may) {
      app.Say("nothing was changed");
      return kJobFailed;
    }
  }
  JM_TRY(context.Await(client::InstallService(plan)));
  if (plan.kind == client::ServiceKind::kCron) {
    // What cron would do within five minutes.
    JM_TRY(context.Await(client::EnsureController(context)));
  }
  if (app.mode() == OutputMode::kJson) app.ShowJson(ToJson(view));
  if (app.mode() == OutputMode::kQuiet) app.terminal().Out(RenderQuiet(view));
  if (app.mode() == OutputMode::kText) SayWhatIsNext(app, context, plan);
  return kSuccess;
}

base::Result<int> RunUninstall(App& app) {
  // A copy of a store has no service; that of a home folder that is gone is removed, too.
  JM_ASSIGN_OR_RETURN(const client::Context context, app.OpenForReading(Elsewhere::kIgnore));
  JM_ASSIGN_OR_RETURN(const std::vector<std::string> removed,
                      context.Await(client::RemoveService(context.paths.home)));
  if (app.mode() == OutputMode::kJson) {
    app.ShowJson({{"removed", removed}});
    return kSuccess;
  }
  app.Say(removed.empty() ? "no service was installed for " + context.paths.home.string()
                          : "removed: " + base::Join(removed, ", "));
  return kSuccess;
}

}  // namespace

void AddService(CLI::App& controller, Invocation& chosen) {
  auto options = std::make_shared<InstallOptions>();
  CLI::App* install = controller.add_subcommand(
      "install", "Have it started after a reboot: by systemd for this user, else by cron");
  install->add_flag("--cron", options->cron, "By cron, even where systemd's user manager answers");
  install->add_flag("--print", options->print, "Only show what would be written");
  install->add_flag("-y,--yes", options->yes, "Write it without asking");
  install->callback([options, &chosen] {
    chosen.run = [options](App& app) { return RunInstall(app, *options); };
  });
  controller.add_subcommand("uninstall", "Undo install; jobs stay, and so does what runs on hosts")
      ->callback([&chosen] { chosen.run = RunUninstall; });
}

}  // namespace jobman::cli
