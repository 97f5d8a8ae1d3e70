#pragma once

#include <optional>
#include <string>

#include "cli/app.hpp"
#include "jobman/core/job_spec.hpp"
#include "jobman/core/prices.hpp"

namespace jobman::cli {

/// What an hour of the slice that the job asks for costs at list price, in USD. Nothing if that is
/// not known, if the job asks for none (tpu.existing), or if nobody pays for it (cloud: local).
std::optional<double> SlicePrice(const core::PriceList& prices, const core::JobSpec& spec);

/// What to say of a job whose pricing has no price where the list has the other one of its type and
/// zone: the zone may not offer it. Empty for any other.
std::string UnpricedNote(const core::PriceList& prices, const core::JobSpec& spec);

/// The list for a price that is shown beside something else: if that of the user cannot be used, a
/// note says so, and the list is empty.
core::PriceList PricesOrNote(App& app);

/// ", 12.88 USD/h", to follow what is said of the job; empty without a price.
std::string PriceSuffix(const std::optional<double>& per_hour);

}  // namespace jobman::cli
