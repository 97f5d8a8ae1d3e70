#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/job_choice.hpp"
#include "cli/one_of.hpp"
#include "cli/views/history.hpp"
#include "cli/whole_number.hpp"

namespace jobman::cli {
namespace {

struct HistoryOptions {
  JobChoice choice = {};
  std::optional<int> attempt = {};
  std::vector<std::string> kinds = {};
  bool details = false;
};

constexpr std::array kKinds = {"state", "effect", "host", "wish", "slice", "note", "hook"};

bool Wanted(const ports::Event& event, const HistoryOptions& options) {
  const auto& kinds = options.kinds;
  // What jobman did, in its own words; the lines around it say it in the user's.
  if (event.kind == "effect" && kinds.empty() && !options.details) return false;
  if (options.attempt && event.attempt != *options.attempt) return false;
  return kinds.empty() || std::find(kinds.begin(), kinds.end(), event.kind) != kinds.end();
}

base::Result<int> RunHistory(App& app, HistoryOptions options) {
  if (app.mode() == OutputMode::kJson) options.details = true;
  JM_ASSIGN_OR_RETURN(const client::Context context, app.OpenForReading());
  JM_ASSIGN_OR_RETURN(const auto ids, Choose(context, options.choice, {.with_deleted = true}));
  views::History view{.details = options.details || !options.kinds.empty()};
  for (const core::JobId id : ids) {
    JM_ASSIGN_OR_RETURN(const std::vector<ports::Event> events,
                        context.Await(context.stores.jobs->Events(id, 0)));
    std::copy_if(events.begin(), events.end(), std::back_inserter(view.events),
                 [&](const ports::Event& event) { return Wanted(event, options); });
  }
  std::sort(view.events.begin(), view.events.end(),
            [](const auto& a, const auto& b) { return a.number < b.number; });
  app.Show(view);
  return kSuccess;
}

}  // namespace

void AddHistory(CLI::App& root, Invocation& chosen) {
  auto options = std::make_shared<HistoryOptions>();
  CLI::App* command =
      root.add_subcommand("history", "The journal of a job: what happened, when, why");
  AddJobChoice(*command, {options, &options->choice});
  command->add_option("-a,--attempt", options->attempt, "Only this attempt")
      ->type_name("N")
      ->transform(WholeNumber(0));
  command->add_option("-k,--kind", options->kinds, "Only lines of these kinds")
      ->type_name("KIND,...")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false)  // jobs may follow
      ->delimiter(',')
      ->check(OneOf(std::vector<std::string>(kKinds.begin(), kKinds.end())));
  command->add_flag("-v,--details", options->details,
                    "What jobman did in the cloud and on the hosts, too, and kinds of lines");
  command->callback([options, &chosen] {
    chosen.run = [options](App& app) { return RunHistory(app, *options); };
  });
}

}  // namespace jobman::cli
