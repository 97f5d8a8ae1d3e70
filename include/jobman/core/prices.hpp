#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "jobman/base/result.hpp"
#include "jobman/core/job_spec.hpp"

namespace jobman::core {

/// List prices of an hour in USD; nothing where one is not known.
struct HourPrices {
  std::optional<double> on_demand = {};
  std::optional<double> spot = {};
  friend bool operator==(const HourPrices&, const HourPrices&) = default;
};
/// Of one chip of a generation ("v4") in a zone.
struct ChipPrice {
  std::string generation = {};
  std::string zone = {};
  HourPrices hour = {};
  friend bool operator==(const ChipPrice&, const ChipPrice&) = default;
};

/// What a price list is, and the day ("2026-01-31") on which somebody read its prices.
struct PriceSource {
  std::string name = {};
  std::string date = {};
  friend bool operator==(const PriceSource&, const PriceSource&) = default;
};

/// List prices as data. With a list of the user's over the built-in one there are two sources, the
/// user's first, and a row for each generation in each zone.
struct PriceList {
  std::vector<PriceSource> sources = {};
  std::vector<ChipPrice> chips = {};
};

/// Reads {"source": NAME, "date": "2026-01-31", "usd_per_chip_hour": {"v4": {"us-central2-b":
/// [3.22, 0.9215]}}}: on demand and spot, null where one is not known. The source may be missing.
/// Errors say what is wrong, not in which file.
base::Result<PriceList> ReadPriceList(std::string_view text);
/// The list that comes with the program (src/core/price_list.json).
const PriceList& BuiltInPrices();
/// What the first list has, and of the second what the first lacks: a row counts as a whole.
PriceList OverOther(PriceList first, const PriceList& second);
/// "skypilot-catalog 006059e, read 2026-11-26": each source with its date, as screens name them.
std::string SourcesText(const std::vector<PriceSource>& sources);

HourPrices ChipPrices(const PriceList& prices, std::string_view generation, std::string_view zone);

/// What an hour of the slice costs at list price, in USD; nothing where it is not known. Who has a
/// grant, a reservation or a discount pays less.
std::optional<double> HourlyPrice(const PriceList& prices, const TpuSpec& tpu);
/// What an hour of the same slice costs on demand, whatever its own pricing.
std::optional<double> OnDemandPrice(const PriceList& prices, const TpuSpec& tpu);

/// The zones that the list has for a generation ("v4"), or for any if that is empty, in the order
/// of their names. A zone may be missing, and a project may not be allowed to use one: for advice,
/// not for decisions.
std::vector<std::string> ZonesWithPrice(const PriceList& prices, std::string_view generation);

}  // namespace jobman::core
