#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "jobman/core/job_spec.hpp"

namespace jobman::core {

/// The list that the prices are of, as screens name it. Source: catalogs/v8/gcp/vms.csv of
/// skypilot-org/skypilot-catalog, commit 006059e0f18a, which reads the price lists of Google Cloud.
inline constexpr std::string_view kPriceList = "skypilot-catalog 006059e";

/// List prices of an hour in USD; nothing where one is not known.
struct HourPrices {
  std::optional<double> on_demand = {};
  std::optional<double> spot = {};
  friend bool operator==(const HourPrices&, const HourPrices&) = default;
};
/// Of one chip of a generation ("v4") in a zone.
HourPrices ChipPrices(std::string_view generation, std::string_view zone);

/// What an hour of the slice costs at list price, in USD; nothing where it is not known. Who has a
/// grant, a reservation or a discount pays less.
std::optional<double> HourlyPrice(const TpuSpec& tpu);

/// The zones that the same list has for a generation ("v4"), or for any if that is empty, in the
/// order of their names. A zone may be missing, and a project may not be allowed to use one: for
/// advice, not for decisions.
std::vector<std::string> ZonesWithPrice(std::string_view generation);

}  // namespace jobman::core
