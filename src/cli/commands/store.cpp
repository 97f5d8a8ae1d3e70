#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/commands.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/client/store_site.hpp"

namespace jobman::cli {
namespace {

base::OrderedJson JobIds(const std::vector<core::JobId>& ids) {
  base::OrderedJson json = base::OrderedJson::array();
  for (const core::JobId id : ids) json.push_back(id.value);
  return json;
}

base::Result<int> RunAdopt(App& app, bool new_id) {
  JM_ASSIGN_OR_RETURN(const client::Context context, app.OpenForWriting(Elsewhere::kIgnore));
  JM_ASSIGN_OR_RETURN(
      const client::Adopted adopted,
      context.Await(new_id ? client::AdoptCopy(context) : client::AdoptStore(context)));
  if (app.mode() == OutputMode::kJson) {
    app.ShowJson({{"store_id", adopted.store_id}, {"left", JobIds(adopted.left)}});
    return kSuccess;
  }
  if (app.mode() == OutputMode::kQuiet) {
    app.terminal().Out(adopted.store_id + "\n");
    return kSuccess;
  }
  app.Say(fmt::format("store {} {} at home in {}", adopted.store_id,
                      adopted.was_known ? "was already" : "is now", core::SiteText(adopted.site)));
  if (adopted.left.empty()) return kSuccess;
  std::vector<std::string> left;
  for (const core::JobId id : adopted.left) left.push_back(core::FormatJobId(id));
  app.Say(fmt::format("{} left to the original, with what they hold: {}",
                      base::Plural(std::ssize(left), "job"), base::Join(left, ", ")));
  return kSuccess;
}

}  // namespace

void AddStore(CLI::App& root, Invocation& chosen) {
  CLI::App* command = root.add_subcommand("store", "Where jobman keeps its jobs");
  command->require_subcommand(1);
  auto new_id = std::make_shared<bool>(false);
  CLI::App* adopt = command->add_subcommand(
      "adopt", "Use a store here that was moved to this machine or folder, or copied");
  adopt->add_flag("--new-id", *new_id,
                  "It is a copy, and the original is in use: give it an id of its own, and leave "
                  "jobs that are not over, and their slices, to the original");
  adopt->callback(
      [new_id, &chosen] { chosen.run = [new_id](App& app) { return RunAdopt(app, *new_id); }; });
}

}  // namespace jobman::cli
