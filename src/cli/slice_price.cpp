#include "cli/slice_price.hpp"

#include <fmt/format.h>

#include "jobman/client/local_cloud.hpp"
#include "jobman/config/prices.hpp"

namespace jobman::cli {

std::optional<double> SlicePrice(const core::PriceList& prices, const core::JobSpec& spec) {
  if (!spec.tpu.existing.empty() || spec.cloud.endpoint == client::kLocal) return std::nullopt;
  return core::HourlyPrice(prices, spec.tpu);
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
