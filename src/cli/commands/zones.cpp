#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/csv_option.hpp"
#include "cli/default_spec.hpp"
#include "cli/one_of.hpp"
#include "cli/views/zones.hpp"
#include "jobman/client/zone_offers.hpp"
#include "jobman/config/places.hpp"
#include "jobman/config/prices.hpp"
#include "jobman/core/accelerators.hpp"

namespace jobman::cli {
namespace {

using base::Result;
using client::ZoneOffers;

struct ZonesOptions {
  std::vector<std::string> zones = {};
  std::string type = {};
  std::string project = {};
  std::string output = {};
  bool refresh = false;
  bool csv = false;
};

/// The generation that is looked for: of "v4-8192" and of "v4" it is v4. Empty: none, or one that
/// this program does not know.
Result<std::string> WantedGeneration(const core::PriceList& prices, const std::string& type) {
  if (type.empty() || !core::ZonesWithPrice(prices, type).empty()) return type;
  std::string generation = core::GenerationOf(type);
  const auto known = core::FindAccelerator(type);
  if (generation.empty() && !known.ok() && !core::MayBeType(type)) return known.error();
  return generation;
}

Result<std::vector<std::string>> ZonesToAsk(const core::PriceList& prices,
                                            const ZonesOptions& options) {
  JM_ASSIGN_OR_RETURN(const std::string generation, WantedGeneration(prices, options.type));
  if (options.zones.empty()) return core::ZonesWithPrice(prices, generation);
  std::vector<std::string> zones;
  for (const std::string& zone : options.zones) {
    JM_TRY(config::CheckZone(zone));
    if (std::find(zones.begin(), zones.end(), zone) == zones.end()) zones.push_back(zone);
  }
  return zones;
}

/// A store that cannot be written may still be read; what is asked is not kept then.
Result<client::Context> OpenForAsking(App& app) {
  auto context = app.OpenForWriting(Elsewhere::kIgnore);
  return context.ok() ? std::move(context) : app.OpenForReading(Elsewhere::kIgnore);
}

void UseBuiltIn(views::Zones& view, const std::vector<std::string>& zones, std::string why) {
  view.not_asked = std::move(why);
  view.rows.clear();
  for (const std::string& zone : zones) view.rows.push_back(client::BuiltInOffers(zone));
}

/// Fills in what the zones offer: as the cloud says, or, if it cannot be asked, as is known here.
base::Status AskOrKnow(App& app, const ZonesOptions& options, const std::vector<std::string>& zones,
                       views::Zones& view) {
  JM_ASSIGN_OR_RETURN(const core::JobSpec spec, SpecOfDefaults(app, "zones", options.project));
  view.project = spec.tpu.project;
  if (view.project.empty()) {
    UseBuiltIn(view, zones, "no project is named; --project, or set GOOGLE_CLOUD_PROJECT");
    return base::Ok();
  }
  JM_ASSIGN_OR_RETURN(const client::Context context, OpenForAsking(app));
  client::ZonesQuery query{
      .cloud = spec.cloud, .project = view.project, .zones = zones, .anew = options.refresh};
  if (options.zones.empty()) query.and_not_in = core::ZonesWithPrice(view.prices, "");
  auto answer = context.Await(client::AskZones(context, std::move(query)));
  view.rows = std::move(answer.zones);
  const bool any = std::any_of(view.rows.begin(), view.rows.end(),
                               [](const ZoneOffers& row) { return !row.refused; });
  if (answer.out_of_reach && !any) UseBuiltIn(view, zones, answer.out_of_reach->ToString());
  return base::Ok();
}

bool HasType(const ZoneOffers& row, const std::string& wanted) {
  return std::any_of(row.types.begin(), row.types.end(), [&](const std::string& type) {
    return type == wanted || core::GenerationOf(type) == wanted;
  });
}

/// Leaves the zones that offer the type, and those that did not say what they offer.
base::Status KeepFitting(views::Zones& view) {
  if (view.type.empty()) return base::Ok();
  std::erase_if(view.rows,
                [&](const ZoneOffers& row) { return !row.refused && !HasType(row, view.type); });
  if (!view.rows.empty()) return base::Ok();
  const auto known = core::FindAccelerator(view.type);
  return base::NotFound("no zone that was asked offers " + view.type,
                        known.ok() ? "jobman zones shows what zones offer" : known.error().hint);
}

/// Of zones that are named, the first failure's code if all have failed.
int CodeOfZones(const views::Zones& view, const ZonesOptions& options) {
  const bool all = std::all_of(view.rows.begin(), view.rows.end(),
                               [](const ZoneOffers& row) { return row.refused.has_value(); });
  if (options.zones.empty() || view.rows.empty() || !all) return kSuccess;
  return ExitCodeOf(*view.rows.front().refused);
}

Result<int> RunZones(App& app, const ZonesOptions& options) {
  JM_TRY(CheckCsv(app, options.csv));
  JM_ASSIGN_OR_RETURN(core::PriceList prices, config::LoadPrices());
  JM_ASSIGN_OR_RETURN(const auto zones, ZonesToAsk(prices, options));
  const bool one = options.zones.size() == 1 && options.type.empty();
  views::Zones view{
      .type = options.type, .details = one || options.output == "wide", .now = app.Now()};
  view.prices = std::move(prices);
  JM_TRY(AskOrKnow(app, options, zones, view));
  JM_TRY(KeepFitting(view));
  ShowOrCsv(app, view, options.csv);
  return CodeOfZones(view, options);
}

}  // namespace

void AddZones(CLI::App& root, Invocation& chosen) {
  auto options = std::make_shared<ZonesOptions>();
  CLI::App* command = root.add_subcommand(
      "zones", "What zones offer: accelerator types and runtime versions, with list prices");
  command->add_option("ZONE", options->zones,
                      "These zones; else those of the price list and of the project");
  command
      ->add_option("-a,--accelerator", options->type,
                   "Only zones with this type, v4-8, or generation, v4; with its price there")
      ->type_name("TYPE");
  command->add_option("--project", options->project, "Ask for this project")->type_name("PROJECT");
  command->add_flag("--refresh", options->refresh, "Ask anew: answers are kept for a day");
  command->add_option("-o,--output", options->output, "wide: every type and version by its name")
      ->check(OneOf({"wide"}));
  command->add_flag("--csv", options->csv,
                    "Comma-separated values: a line for each type in each zone");
  command->callback(
      [options, &chosen] { chosen.run = [options](App& app) { return RunZones(app, *options); }; });
}

}  // namespace jobman::cli
