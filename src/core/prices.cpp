#include "jobman/core/prices.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "jobman/core/accelerators.hpp"

namespace jobman::core {
namespace {

struct Price {
  std::string_view generation;
  std::string_view zone;
  double on_demand;  ///< USD per chip and hour
  double spot;       ///< 0: not known
};

constexpr auto kPrices = std::to_array<Price>({
    {"v2", "asia-east1-c", 1.305, 0.3915},
    {"v2", "europe-west4-a", 1.2375, 0.3156},
    {"v2", "us-central1-a", 1.5, 0.3825},
    {"v2", "us-central1-b", 1.125, 0.3375},
    {"v2", "us-central1-c", 1.125, 0.3375},
    {"v2", "us-central1-f", 1.125, 0.3375},
    {"v3", "europe-west4-a", 2.0, 0.66},
    {"v3", "us-central1-a", 2.0, 0.51},
    {"v3", "us-central1-b", 2.0, 0.51},
    {"v3", "us-central1-f", 2.0, 0.51},
    {"v3", "us-east1-d", 2.0, 0.6},
    {"v4", "us-central2-b", 3.22, 0.9215},
    {"v5litepod", "asia-east1-a", 1.38948, 0.55579},
    {"v5litepod", "asia-east1-b", 1.38948, 0.55579},
    {"v5litepod", "asia-east1-c", 1.38948, 0.55579},
    {"v5litepod", "asia-northeast1-b", 1.54104, 0.4244},
    {"v5litepod", "asia-southeast1-b", 1.56, 0.78},
    {"v5litepod", "europe-north1-a", 1.32132, 0.66066},
    {"v5litepod", "europe-north1-c", 1.32132, 0.66066},
    {"v5litepod", "europe-west1-b", 1.32132, 0.52853},
    {"v5litepod", "europe-west1-c", 1.32132, 0.52853},
    {"v5litepod", "europe-west3-c", 1.416, 0.38997},
    {"v5litepod", "europe-west4-a", 1.56, 0.44498},
    {"v5litepod", "europe-west4-b", 1.56, 0.44498},
    {"v5litepod", "northamerica-northeast1-b", 1.32132, 0.36389},
    {"v5litepod", "southamerica-west1-b", 1.716, 0.47259},
    {"v5litepod", "southamerica-west1-c", 1.716, 0.47259},
    {"v5litepod", "us-central1-a", 1.2, 0.24493},
    {"v5litepod", "us-east1-b", 1.2, 0.24493},
    {"v5litepod", "us-east1-c", 1.2, 0.24493},
    {"v5litepod", "us-east4-b", 1.2, 0.6},
    {"v5litepod", "us-east5-a", 1.2, 0.6},
    {"v5litepod", "us-east5-b", 1.2, 0.6},
    {"v5litepod", "us-east5-c", 1.2, 0.6},
    {"v5litepod", "us-south1-a", 1.416, 0.5664},
    {"v5litepod", "us-south1-b", 1.416, 0.5664},
    {"v5litepod", "us-west1-c", 1.2, 0.24493},
    {"v5litepod", "us-west4-a", 1.2, 0.48},
    {"v5litepod", "us-west4-b", 1.2, 0.48},
    {"v5p", "europe-west1-b", 4.4595, 1.7838},
    {"v5p", "europe-west1-d", 4.4595, 1.7838},
    {"v5p", "europe-west4-b", 4.2525, 1.3485},
    {"v5p", "us-central1-a", 4.2, 0.8357},
    {"v5p", "us-east1-d", 4.2, 0.8357},
    {"v5p", "us-east5-a", 4.2, 1.68},
    {"v5p", "us-east5-b", 4.2, 1.68},
    {"v5p", "us-east5-c", 4.2, 1.68},
    {"v5p", "us-south1-a", 4.779, 1.3161},
    {"v5p", "us-south1-b", 4.779, 1.3161},
    {"v5p", "us-south1-c", 4.779, 1.3161},
    {"v6e", "asia-northeast1-b", 3.24, 0.94352},
    {"v6e", "asia-south1-b", 3.24, 2.27},
    {"v6e", "asia-south1-c", 3.24, 2.27},
    {"v6e", "asia-southeast1-b", 2.97, 0.36292},
    {"v6e", "europe-west4-a", 2.97, 1.03748},
    {"v6e", "southamerica-west1-a", 2.7, 0},
    {"v6e", "us-central1-a", 2.7, 0.54421},
    {"v6e", "us-central1-b", 2.7, 0.54421},
    {"v6e", "us-central1-c", 2.7, 0.54421},
    {"v6e", "us-east1-d", 2.7, 0.54421},
    {"v6e", "us-east4-a", 2.7, 0.57766},
    {"v6e", "us-east5-a", 2.7, 1.215},
    {"v6e", "us-east5-b", 2.7, 1.215},
    {"v6e", "us-east5-c", 2.7, 1.215},
    {"v6e", "us-south1-a", 2.7, 1.35},
    {"v6e", "us-south1-ai1b", 2.7, 1.35},
    {"v6e", "us-south1-c", 2.7, 1.35},
    {"v6e", "us-west1-c", 2.7, 0.54421},
});

}  // namespace

HourPrices ChipPrices(std::string_view generation, std::string_view zone) {
  const auto* const price = std::find_if(kPrices.begin(), kPrices.end(), [&](const Price& one) {
    return one.generation == generation && one.zone == zone;
  });
  if (price == kPrices.end()) return {};
  HourPrices prices{.on_demand = price->on_demand};
  if (price->spot > 0) prices.spot = price->spot;
  return prices;
}

std::optional<double> HourlyPrice(const TpuSpec& tpu) {
  const auto accelerator = FindAccelerator(tpu.accelerator);
  if (!accelerator.ok()) return std::nullopt;
  const HourPrices prices = ChipPrices(accelerator->generation, tpu.zone);
  // The list has no prices of Dynamic Workload Scheduler.
  const bool listed =
      tpu.pricing != Pricing::kFlexStart && tpu.pricing != Pricing::kReservationBound;
  if (!listed) return std::nullopt;
  const bool spot = tpu.pricing == Pricing::kSpot || tpu.pricing == Pricing::kPreemptible;
  const std::optional<double> of_chip = spot ? prices.spot : prices.on_demand;
  if (!of_chip) return std::nullopt;
  return *of_chip * accelerator->chips * tpu.num_slices;
}

std::vector<std::string> ZonesWithPrice(std::string_view generation) {
  std::set<std::string> zones;
  for (const Price& price : kPrices)
    if (generation.empty() || price.generation == generation) zones.emplace(price.zone);
  return {zones.begin(), zones.end()};
}

}  // namespace jobman::core
