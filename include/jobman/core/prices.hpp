#pragma once

#include <optional>

#include "jobman/core/job_spec.hpp"

namespace jobman::core {

/// What an hour of the slice costs at list price, in USD; nothing where it is not known. Who has a
/// grant, a reservation or a discount pays less.
///
/// Source: catalogs/v8/gcp/vms.csv of skypilot-org/skypilot-catalog, commit 006059e0f18a, which
/// reads the price lists of Google Cloud.
std::optional<double> HourlyPrice(const TpuSpec& tpu);

}  // namespace jobman::core
