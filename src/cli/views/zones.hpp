#pragma once

#include <optional>
#include <string>
#include <vector>

#include "jobman/base/json.hpp"
#include "jobman/client/zone_offers.hpp"
#include "jobman/core/prices.hpp"
#include "jobman/ui/text.hpp"

namespace jobman::cli::views {

/// What zones offer.
struct Zones {
  std::vector<client::ZoneOffers> rows = {};
  std::string project = {};    ///< empty: none was asked for
  std::string type = {};       ///< the type or generation that was looked for; empty: none
  std::string not_asked = {};  ///< why these are the built-in lists; empty: the cloud's
  bool details = false;        ///< every type and version by its name
  core::TimePoint now = {};
  core::PriceList prices = core::BuiltInPrices();
};

/// "v4-8..v4-4096 (12), v5p-8": by generation and size.
std::string TypeRanges(const std::vector<std::string>& types);

/// List prices of an hour in the zone: of a type ("v4-8") for the slice, of a generation ("v4") for
/// one chip.
core::HourPrices PricesOf(const core::PriceList& prices, const std::string& type,
                          const std::string& zone);

/// What prices are shown of for the zone: the type that was looked for, else the generations that
/// it offers.
std::vector<std::string> PricedIn(const Zones& view, const client::ZoneOffers& row);

/// A table, or with `details` a paragraph for each zone; below it what the prices and lists are.
std::string RenderText(const Zones& view, const ui::Style& style);
/// The zones that are not refused, one per line.
std::string RenderQuiet(const Zones& view);
base::OrderedJson ToJson(const Zones& view);
/// A line for each type in each zone: zone, type, on_demand, spot (USD an hour, empty if not
/// known), asked_at, error. A zone that refused has one line without a type.
std::string RenderCsv(const Zones& view);

}  // namespace jobman::cli::views
