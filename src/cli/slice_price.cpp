#include "cli/slice_price.hpp"

#include <fmt/format.h>

#include "jobman/client/local_cloud.hpp"
#include "jobman/core/prices.hpp"

namespace jobman::cli {

std::optional<double> SlicePrice(const core::JobSpec& spec) {
  if (!spec.tpu.existing.empty() || spec.cloud.endpoint == client::kLocal) return std::nullopt;
  return core::HourlyPrice(spec.tpu);
}

std::string PriceSuffix(const std::optional<double>& per_hour) {
  return per_hour ? fmt::format(", {:.2f} USD/h", *per_hour) : std::string();
}

}  // namespace jobman::cli
