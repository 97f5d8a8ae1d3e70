#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

#include "cli/commands.hpp"
#include "cli/views/ssh_config.hpp"
#include "jobman/base/files.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/client/find_jobs.hpp"
#include "jobman/controller/ssh_aliases.hpp"

namespace jobman::cli {
namespace {

struct IncludeOptions {
  std::string file = {};
  bool print = false;
  bool remove = false;
  bool yes = false;
};

bool IsThere(const base::Path& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

views::SshConfig NamesView(const client::Context& context, client::HostNames names) {
  return {.file = context.paths.SshConfig().string(),
          .known_hosts = context.paths.SshKnownHosts().string(),
          .names = std::move(names)};
}

base::Result<int> ShowSshConfig(App& app, const std::string& word) {
  JM_ASSIGN_OR_RETURN(const client::Context context, app.OpenForReading());
  std::optional<core::JobId> only;
  if (!word.empty()) {
    JM_ASSIGN_OR_RETURN(only, context.Await(client::FindJob(context.stores.jobs, word)));
  }
  JM_ASSIGN_OR_RETURN(auto names, context.Await(client::FindHostNames(context, only)));
  const bool any = !names.config.names.empty();
  app.Show(NamesView(context, std::move(names)));
  if (any && !IsThere(context.paths.SshKnownHosts()))
    app.Say("the keys are not written yet: jobman ssh-config write, or start a controller");
  return kSuccess;
}

/// What a controller does whenever something changes.
base::Result<client::HostNames> WriteNow(const client::Context& context) {
  JM_ASSIGN_OR_RETURN(auto names, context.Await(client::FindHostNames(context)));
  JM_TRY(controller::WriteSshConfig(context.paths, names.config));
  return names;
}

base::Result<int> RunWrite(App& app) {
  JM_ASSIGN_OR_RETURN(const client::Context context, app.OpenForWriting());
  JM_ASSIGN_OR_RETURN(auto names, WriteNow(context));
  std::int64_t hosts = 0;
  for (const auto& [job, named] : names.config.names) hosts += std::ssize(named);
  if (app.mode() == OutputMode::kJson) app.ShowJson(ToJson(NamesView(context, std::move(names))));
  app.Say(fmt::format("wrote {}, with names for {}", context.paths.SshConfig().string(),
                      base::Plural(hosts, "host")));
  return kSuccess;
}

/// The OpenSSH client takes the home folder of the password file, whatever HOME says.
void SayIfNotRead(App& app, const base::Path& file) {
  const passwd* const account = getpwuid(getuid());
  if (account == nullptr || base::Path(account->pw_dir) / ".ssh" / "config" == file) return;
  app.Say(
      fmt::format("HOME is not your home folder by the password file: there, OpenSSH reads {} "
                  "(--file), or this one by ssh -F {}",
                  (base::Path(account->pw_dir) / ".ssh" / "config").string(), file.string()));
}

base::Result<int> ChangeInclude(App& app, const IncludeOptions& options) {
  JM_ASSIGN_OR_RETURN(const client::Context context,
                      options.print ? app.OpenForReading() : app.OpenForWriting());
  const base::Path file =
      options.file.empty() ? base::HomeDir() / ".ssh" / "config" : base::ExpandHome(options.file);
  JM_ASSIGN_OR_RETURN(const client::IncludePlan plan,
                      client::PlanInclude(file, context.paths.SshConfig(), options.remove));
  const views::SshInclude view{.plan = plan};
  if (options.print) {
    app.Show(view);
    return kSuccess;
  }
  const std::string doing = options.remove ? "remove from " : "add at the top of ";
  if (plan.changes && !options.yes) {
    app.terminal().Err(plan.line);
    JM_ASSIGN_OR_RETURN(const bool may, app.Ask(doing + file.string() + "?"));
    if (!may) {
      app.Say("nothing was changed");
      return kJobFailed;
    }
  }
  JM_TRY(client::CarryOut(plan));
  if (!options.remove && !IsThere(context.paths.SshConfig())) {
    JM_TRY(WriteNow(context));
  }
  if (app.mode() == OutputMode::kJson) app.ShowJson(ToJson(view));
  const std::string done = plan.changes     ? (options.remove ? "removed from " : "added to ")
                           : options.remove ? "is not in "
                                            : "is already in ";
  app.Say(plan.line + " " + done + file.string());
  if (options.file.empty()) SayIfNotRead(app, file);
  return kSuccess;
}

}  // namespace

void AddSshConfig(CLI::App& root, Invocation& chosen) {
  CLI::App* command = root.add_subcommand(
      "ssh-config", "Names for hosts (jobman-42-w3), for OpenSSH, rsync and editors");
  auto job = std::make_shared<std::string>();
  command->add_option("JOB", *job, "Only of this job: number or name");
  command->add_subcommand("write", "Write the file that the controller keeps, now")
      ->callback([&chosen] { chosen.run = RunWrite; });
  auto options = std::make_shared<IncludeOptions>();
  CLI::App* install =
      command->add_subcommand("install", "Include the file in your own ~/.ssh/config, once");
  install->add_option("--file", options->file, "In this file in place of ~/.ssh/config")
      ->type_name("FILE");
  install->add_flag("--print", options->print, "Only show the line");
  install->add_flag("--remove", options->remove, "Take the line away again");
  install->add_flag("-y,--yes", options->yes, "Without asking");
  install->callback([options, &chosen] {
    chosen.run = [options](App& app) { return ChangeInclude(app, *options); };
  });
  // Called after that of a subcommand.
  command->callback([job, command, &chosen] {
    if (!command->get_subcommands().empty()) return;
    chosen.run = [job](App& app) { return ShowSshConfig(app, *job); };
  });
}

}  // namespace jobman::cli
