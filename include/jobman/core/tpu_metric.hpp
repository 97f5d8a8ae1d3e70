#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "jobman/core/accelerators.hpp"
#include "jobman/core/job_spec.hpp"

namespace jobman::core {

/// What a quota metric of Cloud TPU counts: TensorCores of one generation at one pricing, which is
/// the number in the name of a type (v4-32: 32).
///
/// Source: Cloud TPU documentation, page "Quotas": the metrics tpu-v5s-litepod,
/// tpu-v5s-litepod-preemptible, tpu-v5s-litepod-reserved and tpu-v5s-litepod-serving(-preemptible,
/// -reserved); that serving is for v5litepod-1, -4 and -8; that v2 and v3 have one quota for single
/// devices (8 cores) and one for pods; that quotas count cores ("TPU v6e cores per project per
/// zone"). The names of other generations are of that form.
struct TpuMetric {
  enum class Part { kAll, kDevices, kPods, kServing, kTraining };
  std::string generation = {};           ///< "v5litepod"
  Pricing pricing = Pricing::kOnDemand;  ///< one that Counted() returns
  Part part = Part::kAll;                ///< which sizes it is for
  friend bool operator==(const TpuMetric&, const TpuMetric&) = default;
};

/// Reads "tpu.googleapis.com/tpu-v5s-litepod-preemptible". Nothing for a name with a word that is
/// not known here: what it counts is not known either.
std::optional<TpuMetric> ReadTpuMetric(std::string_view metric);
/// "v5litepod serving", "v3 pods", "v4".
std::string TextOf(const TpuMetric& metric);
/// The pricing whose quota a slice takes: spot, preemptible and flex-start slices take the
/// preemptible one (kSpot), those of a reservation of any kind the reserved one.
///
/// Source: Cloud TPU documentation, pages "Quotas" and "Request Flex-start VMs".
Pricing Counted(Pricing pricing);
/// How much of the quota a slice of that type and pricing takes; 0 if it is another one's.
int UnitsOf(const TpuMetric& metric, const Accelerator& type, Pricing pricing);

}  // namespace jobman::core
