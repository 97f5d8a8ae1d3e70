#include "cli/slice_price.hpp"

#include <fmt/format.h>

#include "jobman/client/local_cloud.hpp"
#include "jobman/config/prices.hpp"
#include "jobman/core/accelerators.hpp"

namespace jobman::cli {

std::optional<double> SlicePrice(const core::PriceList& prices, const core::JobSpec& spec) {
  if (!spec.tpu.existing.empty() || spec.cloud.endpoint == client::kLocal) return std::nullopt;
  return core::HourlyPrice(prices, spec.tpu);
}

std::string UnpricedNote(const core::PriceList& prices, const core::JobSpec& spec) {
  const core::Pricing pricing = spec.tpu.pricing;
  const bool spot = pricing == core::Pricing::kSpot || pricing == core::Pricing::kPreemptible;
  if (!spot && pricing != core::Pricing::kOnDemand) return {};
  if (!spec.tpu.existing.empty() || spec.cloud.endpoint == client::kLocal) return {};
  const auto type = core::FindAccelerator(spec.tpu.accelerator);
  if (!type.ok()) return {};
  const auto hour = core::ChipPrices(prices, type->generation, spec.tpu.zone);
  const auto& own = spot ? hour.spot : hour.on_demand;
  const auto& other = spot ? hour.on_demand : hour.spot;
  if (own || !other) return {};
  return fmt::format(
      "the price list ({}) has a price of {} in {} {}, and none {}: the zone may not offer "
      "tpu.pricing: {}",
      core::SourcesText(prices.sources), type->generation, spec.tpu.zone,
      spot ? "on demand" : "for spot", spot ? "for spot" : "on demand", core::PricingName(pricing));
}

core::PriceList PricesOrNote(App& app) {
  auto prices = config::LoadPrices();
  if (prices.ok()) return *std::move(prices);
  app.Say("note: no price is shown: " + prices.error().ToString());
  return {};
}

std::string PriceSuffix(const std::optional<double>& per_hour) {
  return per_hour ? fmt::format(", {:.2f} USD/h", *per_hour) : std::string();
}

}  // namespace jobman::cli
