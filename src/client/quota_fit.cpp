#include "client/quota_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "jobman/base/strings.hpp"

namespace jobman::client {
namespace {

/// More would not be read in one line.
constexpr std::size_t kMostHolders = 6;
constexpr std::size_t kMostZonesWithQuota = 4;

/// What slices of that type and pricing take of the metric.
std::int64_t UnitsOfSlices(const core::TpuMetric& metric, const core::Accelerator& type,
                           const core::TpuSpec& tpu, core::Pricing pricing) {
  return std::int64_t{core::UnitsOf(metric, type, pricing)} * std::max(tpu.num_slices, 1);
}

/// The largest type of the same quota whose slices fit; empty if none does.
std::string LargestThatFits(const core::TpuSpec& tpu, const core::TpuMetric& metric,
                            std::int64_t limit) {
  std::string largest;
  std::int64_t most = 0;
  for (const std::string& name : core::AcceleratorTypes()) {
    if (core::GenerationOf(name) != metric.generation) continue;
    const auto type = core::FindAccelerator(name);
    const std::int64_t units = type.ok() ? UnitsOfSlices(metric, *type, tpu, tpu.pricing) : 0;
    if (units <= most || units > limit) continue;
    most = units;
    largest = name;
  }
  return largest;
}

/// "tpu.pricing: spot" if that has quota enough in the zone.
std::optional<std::string> PricingThatFits(const core::TpuSpec& tpu, const core::Accelerator& type,
                                           const std::vector<QuotaRow>& rows) {
  for (const core::Pricing pricing : {core::Pricing::kSpot, core::Pricing::kOnDemand}) {
    if (core::Counted(tpu.pricing) == pricing) continue;
    core::TpuSpec other = tpu;
    other.pricing = pricing;
    const bool some = std::any_of(rows.begin(), rows.end(), [&](const QuotaRow& row) {
      return row.counts && row.limit.limit && UnitsOfSlices(*row.counts, type, tpu, pricing) > 0;
    });
    if (some && FindTooSmall(other, rows) == nullptr)
      return "tpu.pricing: " + std::string(core::PricingName(pricing));
  }
  return std::nullopt;
}

/// "tpu.zone: europe-west4-a or us-east1-d", of those that have a limit of their own.
std::optional<std::string> ZonesThatFit(const core::TpuSpec& tpu, const core::Accelerator& type,
                                        const std::vector<ports::TpuLimit>& limits) {
  std::vector<std::string> zones;
  for (const ports::TpuLimit& limit : limits) {
    const auto counts = core::ReadTpuMetric(limit.metric);
    const std::int64_t need = counts ? UnitsOfSlices(*counts, type, tpu, tpu.pricing) : 0;
    const bool elsewhere = limit.scope == ports::TpuLimit::Scope::kZone &&
                           !limit.location.empty() && limit.location != tpu.zone;
    if (elsewhere && need > 0 && limit.limit.value_or(0) >= need) zones.push_back(limit.location);
  }
  if (zones.empty()) return std::nullopt;
  zones.resize(std::min(zones.size(), kMostZonesWithQuota));
  return "tpu.zone: " + base::Join(zones, " or ");
}

}  // namespace

std::int64_t NeedFrom(const core::TpuSpec& tpu, const QuotaRow& row) {
  const auto type = core::FindAccelerator(tpu.accelerator);
  if (!type.ok() || !row.counts || !row.limit.limit) return 0;
  return UnitsOfSlices(*row.counts, *type, tpu, tpu.pricing);
}

const QuotaRow* FindTooSmall(const core::TpuSpec& tpu, const std::vector<QuotaRow>& rows) {
  for (const QuotaRow& row : rows) {
    if (NeedFrom(tpu, row) > row.limit.limit.value_or(0)) return &row;
  }
  return nullptr;
}

std::string NameOfQuota(const QuotaRow& row) {
  if (!row.counts) return row.limit.metric;
  return core::TextOf(*row.counts) + " " + std::string(core::PricingName(row.counts->pricing));
}

std::string HolderNames(const std::vector<QuotaRow>& rows) {
  std::vector<std::string> names;
  for (const QuotaRow& row : rows) {
    for (const QuotaHolder& holder : row.holders) {
      std::string name = holder.job ? core::FormatJobId(*holder.job) : holder.node;
      if (std::find(names.begin(), names.end(), name) == names.end())
        names.push_back(std::move(name));
    }
  }
  if (names.size() > kMostHolders) {
    const std::size_t more = names.size() - kMostHolders;
    names.resize(kMostHolders);
    names.push_back(fmt::format("{} more", more));
  }
  return base::Join(names, ", ");
}

std::string CureForQuota(const core::TpuSpec& tpu, const QuotaRow& small,
                         const std::vector<QuotaRow>& rows,
                         const std::vector<ports::TpuLimit>& limits) {
  std::vector<std::string> settings;
  const auto type = core::FindAccelerator(tpu.accelerator);
  if (type.ok() && small.counts) {
    const std::string largest = LargestThatFits(tpu, *small.counts, small.limit.limit.value_or(0));
    if (!largest.empty()) settings.push_back("tpu.accelerator: " + largest);
    if (auto pricing = PricingThatFits(tpu, *type, rows)) settings.push_back(*std::move(pricing));
    if (auto zones = ZonesThatFit(tpu, *type, limits)) settings.push_back(*std::move(zones));
  }
  const std::string more = AskForQuota(tpu.project);
  return settings.empty() ? more : "set " + base::Join(settings, ", or ") + ", or " + more;
}

std::string AskForQuota(const std::string& project) {
  return "ask for more (service: Cloud TPU API) at "
         "https://console.cloud.google.com/iam-admin/quotas?project=" +
         project;
}

}  // namespace jobman::client
