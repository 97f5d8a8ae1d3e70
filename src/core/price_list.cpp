// Price lists as JSON: the built-in one, and users' own.
#include <cmath>
#include <string>
#include <utility>

#include "jobman/base/json.hpp"
#include "jobman/base/time.hpp"
#include "jobman/core/accelerators.hpp"
#include "jobman/core/prices.hpp"

namespace jobman::core {
namespace {

using base::Json;
using base::Result;

constexpr const char* kPricesKey = "usd_per_chip_hour";

base::Status CheckPriceKeys(const Json& list) {
  for (const auto& [key, value] : list.items()) {
    if (key == "source" || key == "date" || key == kPricesKey) continue;
    return base::InvalidArgument("unknown key \"" + key + "\"");
  }
  return base::Ok();
}

base::Status CheckPriceDate(const std::string& date) {
  constexpr std::size_t kLength = 10;
  if (date.size() == kLength && base::ParseRfc3339(date + "T00:00:00Z").ok()) return base::Ok();
  return base::InvalidArgument(R"("date": no day such as "2026-01-31")");
}

/// A number, or null.
bool IsPrice(const Json& value) {
  if (value.is_null()) return true;
  return value.is_number() && std::isfinite(value.get<double>()) && value.get<double>() >= 0;
}

std::optional<double> PriceIn(const Json& value) {
  return value.is_null() ? std::nullopt : std::optional(value.get<double>());
}

Result<HourPrices> ReadHourPrices(const Json& pair, const std::string& where) {
  const bool fits = pair.is_array() && pair.size() == 2 && IsPrice(pair[0]) && IsPrice(pair[1]);
  if (!fits) {
    return base::InvalidArgument(where + ": no [on demand, spot] in USD, null where one is not " +
                                 "known");
  }
  return HourPrices{.on_demand = PriceIn(pair[0]), .spot = PriceIn(pair[1])};
}

base::Status ReadGeneration(const std::string& generation, const Json& zones, PriceList& list) {
  const std::string where = std::string(kPricesKey) + "." + generation;
  // Of another, such as v5e for v5litepod, no price would ever be looked up.
  if (GenerationOf(generation + "-8") != generation) {
    return base::InvalidArgument(where + ": generations are v2, v3, v4, v5litepod, v5p and v6e");
  }
  if (!zones.is_object()) return base::InvalidArgument(where + ": no object of zones");
  for (const auto& [zone, pair] : zones.items()) {
    JM_ASSIGN_OR_RETURN(const HourPrices hour, ReadHourPrices(pair, where + "." + zone));
    list.chips.push_back({.generation = generation, .zone = zone, .hour = hour});
  }
  return base::Ok();
}

}  // namespace

Result<PriceList> ReadPriceList(std::string_view text) {
  JM_ASSIGN_OR_RETURN(const Json json, base::ParseJson(text));
  if (!json.is_object()) return base::InvalidArgument("no JSON object");
  JM_TRY(CheckPriceKeys(json));
  PriceList list;
  list.sources = {{.name = base::GetString(json, "source"), .date = base::GetString(json, "date")}};
  JM_TRY(CheckPriceDate(list.sources.front().date));
  const Json& prices = base::GetMember(json, kPricesKey);
  if (!prices.is_object())
    return base::InvalidArgument(std::string(kPricesKey) + ": no object of generations");
  for (const auto& [generation, zones] : prices.items())
    JM_TRY(ReadGeneration(generation, zones, list));
  return list;
}

}  // namespace jobman::core
