#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "cli/commands.hpp"
#include "cli/views/garbage.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/ssh/file_limit.hpp"

namespace jobman::cli {
namespace {

using client::Garbage;

struct GcOptions {
  client::PlaceWish places = {};
  std::string name = {};
  client::GarbageChoice choice = {};
  bool no_hosts = false;
  bool yes = false;
};

/// Whether the user confirms; if nobody can be asked, only --yes does.
bool IsWanted(App& app, const GcOptions& options, std::int64_t slices, std::int64_t runs) {
  if (options.yes) return true;
  if (app.mode() != OutputMode::kText) return false;
  std::vector<std::string> parts;
  if (slices > 0) parts.push_back("delete " + base::Plural(slices, "slice"));
  if (runs > 0) parts.push_back("end " + base::Plural(runs, "run"));
  const auto answer = app.Ask(base::Join(parts, " and ") + "?");
  if (!answer.ok()) app.Say("nothing is deleted without --yes: there is no terminal to ask on");
  return answer.ok() && *answer;
}

/// 0 if nothing is left, else the first failure's code, or 1.
int ExitCodeOfGarbage(const Garbage& garbage, const std::vector<Garbage::Slice*>& chosen) {
  bool left = false;
  const auto judge = [&left](Garbage::Fate fate, const std::optional<base::Error>& error) {
    left = left || fate == Garbage::Fate::kLeft;
    return error ? static_cast<int>(ExitCodeOf(*error)) : static_cast<int>(kSuccess);
  };
  for (const Garbage::Slice* slice : chosen) {
    if (const int code = judge(slice->fate, slice->error); code != kSuccess) return code;
  }
  for (const Garbage::Run& run : garbage.runs) {
    if (const int code = judge(run.fate, run.error); code != kSuccess) return code;
  }
  if (left) return kJobFailed;
  return garbage.silent.empty() ? kSuccess : ExitCodeOf(garbage.silent.front().error);
}

void TellSilentHosts(App& app, const Garbage& garbage) {
  for (const std::string& line : garbage.first_uses) app.Say(line);
  for (const Garbage::SilentHost& host : garbage.silent) {
    app.Say(fmt::format("cannot list what runs on host {} of job {}: {}", host.host,
                        core::FormatJobId(host.job), host.error.ToString()));
  }
}

base::Result<int> RunGc(App& app, const GcOptions& options) {
  if (options.choice.unlabelled && options.name.empty()) {
    return base::InvalidArgument("--unlabelled needs --name: without labels, its owner is unknown",
                                 "name what you mean: --name 'train-*'");
  }
  JM_TRY(client::CheckPlaces(options.places));
  JM_ASSIGN_OR_RETURN(const client::Context context, app.OpenForWriting());
  client::PlaceWish where = options.places;
  where.endpoint = app.options().endpoint;
  client::GarbageQuery query{.name_glob = options.name, .hosts = !options.no_hosts};
  JM_ASSIGN_OR_RETURN(query.places,
                      context.Await(client::PlacesToSearch(context.stores.jobs, where)));
  ssh::RaiseFileLimit();
  client::GarbageCollector collector(context);
  const auto say = [&app](const base::Error& error) { app.Say("jobman: " + error.ToString()); };
  JM_ASSIGN_OR_RETURN(Garbage garbage, context.Await(collector.Look(query, say)));
  const auto chosen = client::SlicesToDelete(garbage, options.choice);
  const bool any = !chosen.empty() || !garbage.runs.empty();
  const bool talks = app.mode() == OutputMode::kText;
  TellSilentHosts(app, garbage);
  if (any && !options.yes && talks) app.Show(views::FoundGarbage{garbage, app.Now()});
  const bool wanted = any && IsWanted(app, options, std::ssize(chosen), std::ssize(garbage.runs));
  if (wanted) {
    for (Garbage::Slice* slice : chosen) *slice = context.Await(collector.Remove(*slice));
    for (Garbage::Run& run : garbage.runs) run = context.Await(collector.Stop(run));
  }
  if (!talks || wanted || !any) app.Show(views::FoundGarbage{garbage, app.Now()});
  if (!any) {
    app.Say(
        fmt::format("nothing to delete in {}", base::Plural(std::ssize(garbage.places), "place")));
  }
  return ExitCodeOfGarbage(garbage, chosen);
}

}  // namespace

void AddGc(CLI::App& root, Invocation& chosen) {
  auto options = std::make_shared<GcOptions>();
  CLI::App* command = root.add_subcommand(
      "gc", "Find slices and processes that no job owns, and delete them after asking");
  command->add_flag("-y,--yes", options->yes, "Delete without asking");
  command->add_option("-z,--zone", options->places.zones, "Look in these zones, too")
      ->type_name("ZONE,...")
      ->expected(1)
      ->take_all()
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_option("--project", options->places.projects, "Look in these projects, too")
      ->type_name("PROJECT,...")
      ->expected(1)
      ->take_all()
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_flag("--only", options->places.only,
                    "Look only where --zone, --project and --endpoint say");
  command->add_flag("--no-hosts", options->no_hosts, "Do not look for processes on hosts");
  command->add_flag("--all-stores", options->choice.other_stores,
                    "Also delete slices of your other stores, which may be in use");
  command
      ->add_option("-n,--name", options->name,
                   "Also show resources with such a name (* and ?) and no jobman labels")
      ->type_name("GLOB");
  command->add_flag("--unlabelled", options->choice.unlabelled, "Delete what --name found as well");
  command->callback(
      [options, &chosen] { chosen.run = [options](App& app) { return RunGc(app, *options); }; });
}

}  // namespace jobman::cli
