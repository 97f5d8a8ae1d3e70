// What zones offer, as JSON and as comma-separated values; types and their prices.
#include <fmt/format.h>

#include <map>
#include <set>

#include "cli/views/error.hpp"
#include "cli/views/words.hpp"
#include "cli/views/zones.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/core/accelerators.hpp"
#include "jobman/ui/csv.hpp"

namespace jobman::cli::views {
namespace {

base::OrderedJson PricesJson(const core::HourPrices& prices) {
  const auto number = [](const std::optional<double>& price) {
    return price ? base::OrderedJson(*price) : base::OrderedJson();
  };
  return {{"on_demand", number(prices.on_demand)}, {"spot", number(prices.spot)}};
}

base::OrderedJson RowJson(const Zones& view, const client::ZoneOffers& row) {
  base::OrderedJson prices = base::OrderedJson::object();
  for (const std::string& type : PricedIn(view, row)) {
    prices[type] = PricesJson(PricesOf(view.prices, type, row.zone));
  }
  return {{"zone", row.zone},
          {"types", row.types},
          {"runtimes", row.runtimes},
          {"prices", prices},
          {"asked_at", TimeJson(row.asked_at)},
          {"error", row.refused ? views::ToJson(*row.refused) : base::OrderedJson()}};
}

std::string CsvNumber(const std::optional<double>& price) {
  return price ? fmt::format("{:.4f}", *price) : std::string();
}

}  // namespace

std::string TypeRanges(const std::vector<std::string>& types) {
  std::map<std::string, std::map<std::int64_t, std::string>> sizes;  // by what comes before it
  for (const std::string& type : types) {
    const std::size_t dash = type.rfind('-');
    const bool sized = dash != std::string::npos;
    const auto size = sized ? base::ParseNumber(type.substr(dash + 1)) : std::nullopt;
    sizes[size ? type.substr(0, dash) : type][size.value_or(0)] = type;
  }
  std::vector<std::string> parts;
  for (const auto& [generation, of_it] : sizes) {
    if (of_it.size() > 2) {
      parts.push_back(
          fmt::format("{}..{} ({})", of_it.begin()->second, of_it.rbegin()->second, of_it.size()));
    } else {
      for (const auto& [size, type] : of_it) parts.push_back(type);
    }
  }
  return base::Join(parts, ", ");
}

core::HourPrices PricesOf(const core::PriceList& prices, const std::string& type,
                          const std::string& zone) {
  const auto accelerator = core::FindAccelerator(type);
  if (!accelerator.ok()) return core::ChipPrices(prices, type, zone);
  core::HourPrices of_slice = core::ChipPrices(prices, accelerator->generation, zone);
  if (of_slice.on_demand) *of_slice.on_demand *= accelerator->chips;
  if (of_slice.spot) *of_slice.spot *= accelerator->chips;
  return of_slice;
}

std::vector<std::string> PricedIn(const Zones& view, const client::ZoneOffers& row) {
  if (!view.type.empty()) return {view.type};
  std::set<std::string> generations;
  for (const std::string& type : row.types) generations.insert(core::GenerationOf(type));
  generations.erase("");
  return {generations.begin(), generations.end()};
}

base::OrderedJson ToJson(const Zones& view) {
  base::OrderedJson zones = base::OrderedJson::array();
  for (const client::ZoneOffers& row : view.rows) zones.push_back(RowJson(view, row));
  const auto or_null = [](const std::string& text) {
    return text.empty() ? base::OrderedJson() : base::OrderedJson(text);
  };
  return {{"project", or_null(view.project)},
          {"source", view.not_asked.empty() ? "cloud" : "built-in"},
          {"not_asked", or_null(view.not_asked)},
          {"type", or_null(view.type)},
          {"price_lists", PriceListsJson(view.prices.sources)},
          {"zones", std::move(zones)}};
}

std::string RenderCsv(const Zones& view) {
  std::string text = ui::CsvLine({"zone", "type", "on_demand", "spot", "asked_at", "error"});
  for (const client::ZoneOffers& row : view.rows) {
    const std::string at = row.asked_at ? base::FormatRfc3339(*row.asked_at) : std::string();
    if (row.refused) text += ui::CsvLine({row.zone, "", "", "", at, row.refused->message});
    for (const std::string& type : row.types) {
      const core::HourPrices prices = PricesOf(view.prices, type, row.zone);
      text += ui::CsvLine(
          {row.zone, type, CsvNumber(prices.on_demand), CsvNumber(prices.spot), at, ""});
    }
  }
  return text;
}

}  // namespace jobman::cli::views
