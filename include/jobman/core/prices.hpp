#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "jobman/core/job_spec.hpp"

namespace jobman::core {

/// What an hour of the slice costs at list price, in USD; nothing where it is not known. Who has a
/// grant, a reservation or a discount pays less.
///
/// Source: catalogs/v8/gcp/vms.csv of skypilot-org/skypilot-catalog, commit 006059e0f18a, which
/// reads the price lists of Google Cloud.
std::optional<double> HourlyPrice(const TpuSpec& tpu);

/// The zones that the same list has for a generation ("v4"), or for any if that is empty, in the
/// order of their names. A zone may be missing, and a project may not be allowed to use one: for
/// advice, not for decisions.
std::vector<std::string> ZonesWithPrice(std::string_view generation);

}  // namespace jobman::core
