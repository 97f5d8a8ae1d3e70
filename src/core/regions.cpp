#include "jobman/core/regions.hpp"

#include <algorithm>
#include <array>

namespace jobman::core {
namespace {

struct DualRegion {
  std::string_view name;
  std::array<std::string_view, 2> regions;
};

/// The pairs that have a name. Set in November 2026 from what is known of Google's list, not read
/// off it: https://cloud.google.com/storage/docs/locations.
constexpr std::array<DualRegion, 6> kDualRegions = {{
    {"asia1", {"asia-northeast1", "asia-northeast2"}},
    {"eur4", {"europe-north1", "europe-west4"}},
    {"eur5", {"europe-west1", "europe-west2"}},
    {"eur7", {"europe-west2", "europe-west3"}},
    {"eur8", {"europe-west3", "europe-west6"}},
    {"nam4", {"us-central1", "us-east1"}},
}};

enum class Continent { kNorthAmerica, kEurope, kOther };

/// USD for a TB that crosses the border of a region. Between two continents the dearer one counts.
struct Rate {
  std::string_view prefix;  ///< of locations
  Continent continent;
  double far;  ///< to and from this continent
};

/// Round figures for each pair of continents, hence the "about" in messages. Set in November 2026
/// from what is known of Google's list, not read off it; the list itself, which has a price per
/// pair and exceptions for some countries: https://cloud.google.com/storage/pricing, "Data transfer
/// within Google Cloud". That every read from a multi-region is billed, and none within a
/// dual-region's own regions: https://cloud.google.com/storage/docs/locations.
constexpr double kWithinAmericaOrEurope = 20;
constexpr std::array<Rate, 9> kRates = {{
    {"africa-", Continent::kOther, 110},
    {"asia", Continent::kOther, 80},
    {"australia-", Continent::kOther, 100},
    {"eu", Continent::kEurope, 50},
    {"me-", Continent::kOther, 110},
    {"nam", Continent::kNorthAmerica, 50},
    {"northamerica-", Continent::kNorthAmerica, 50},
    {"southamerica-", Continent::kOther, 140},
    {"us", Continent::kNorthAmerica, 50},
}};

const Rate* RateOf(std::string_view location) {
  const auto* const rate = std::find_if(kRates.begin(), kRates.end(), [&](const Rate& one) {
    return location.starts_with(one.prefix);
  });
  return rate == kRates.end() ? nullptr : rate;
}

double PriceBetween(const Rate& from, const Rate& to) {
  const bool near = from.continent == to.continent && from.continent != Continent::kOther;
  return near ? kWithinAmericaOrEurope : std::max(from.far, to.far);
}

}  // namespace

std::string RegionOf(std::string_view zone) {
  return std::string(zone.substr(0, zone.rfind('-')));
}

std::vector<std::string> RegionsOf(const BucketLocation& bucket) {
  if (bucket.name.find('-') != std::string::npos) return {bucket.name};
  if (!bucket.regions.empty()) return bucket.regions;
  for (const DualRegion& dual : kDualRegions) {
    if (dual.name == bucket.name) return {dual.regions.begin(), dual.regions.end()};
  }
  return {};
}

std::optional<double> PriceOfReading(const BucketLocation& bucket, std::string_view region) {
  const std::vector<std::string> regions = RegionsOf(bucket);
  if (std::find(regions.begin(), regions.end(), region) != regions.end()) return 0;
  const Rate* const from = RateOf(regions.empty() ? bucket.name : regions.front());
  const Rate* const to = RateOf(region);
  if (from == nullptr || to == nullptr) return std::nullopt;
  return PriceBetween(*from, *to);
}

std::optional<PriceRange> PricesOfReadingElsewhere(std::string_view region) {
  const Rate* const here = RateOf(region);
  if (here == nullptr) return std::nullopt;
  PriceRange range{.least = PriceBetween(*here, *here), .most = 0};
  for (const Rate& from : kRates) {
    range.least = std::min(range.least, PriceBetween(from, *here));
    range.most = std::max(range.most, PriceBetween(from, *here));
  }
  return range;
}

}  // namespace jobman::core
