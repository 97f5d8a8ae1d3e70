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

/// What the job's slices would take of the quota if they were of that type and pricing.
std::int64_t UnitsOfSlices(const QuotaRow& row, const core::Accelerator& type,
                           const core::TpuSpec& tpu, core::Pricing pricing) {
  if (!row.counts || core::UnitsOf(*row.counts, type, pricing) == 0) return 0;
  return std::int64_t{CountsCores(row) ? type.cores : type.chips} * std::max(tpu.num_slices, 1);
}

/// The largest type of the same quota whose slices fit; empty if none does.
std::string LargestThatFits(const core::TpuSpec& tpu, const QuotaRow& row) {
  std::string largest;
  std::int64_t most = 0;
  for (const std::string& name : core::AcceleratorTypes()) {
    if (core::GenerationOf(name) != core::GenerationOf(tpu.accelerator)) continue;
    const auto type = core::FindAccelerator(name);
    const std::int64_t units = type.ok() ? UnitsOfSlices(row, *type, tpu, tpu.pricing) : 0;
    if (units <= most || units > row.limit.limit.value_or(0)) continue;
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
      return row.limit.limit && UnitsOfSlices(row, type, tpu, pricing) > 0;
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
    const QuotaRow row{.limit = limit, .counts = core::ReadTpuMetric(limit.metric)};
    const std::int64_t need = UnitsOfSlices(row, type, tpu, tpu.pricing);
    const bool elsewhere = limit.scope == ports::TpuLimit::Scope::kZone &&
                           !limit.location.empty() && limit.location != tpu.zone;
    if (elsewhere && need > 0 && limit.limit.value_or(0) >= need) zones.push_back(limit.location);
  }
  if (zones.empty()) return std::nullopt;
  zones.resize(std::min(zones.size(), kMostZonesWithQuota));
  return "tpu.zone: " + base::Join(zones, " or ");
}

}  // namespace

bool CountsCores(const QuotaRow& row) {
  const std::string name = base::ToLower(row.limit.name);
  if (base::Contains(name, "core")) return true;
  if (base::Contains(name, "chip") || !row.counts) return false;
  return row.counts->generation == "v2" || row.counts->generation == "v3";
}

std::int64_t NeedFrom(const core::TpuSpec& tpu, const QuotaRow& row) {
  const auto type = core::FindAccelerator(tpu.accelerator);
  if (!type.ok() || !row.limit.limit) return 0;
  return UnitsOfSlices(row, *type, tpu, tpu.pricing);
}

std::int64_t HeldOf(const QuotaRow& row) {
  if (CountsCores(row)) return row.held.value_or(0);
  std::int64_t chips = 0;
  for (const QuotaHolder& holder : row.holders) {
    const auto type = core::FindAccelerator(holder.type);
    if (type.ok()) chips += type->chips;
  }
  return chips;
}

const char* UnitOf(const QuotaRow& row) {
  return CountsCores(row) ? "TensorCores" : "chips";
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
  if (type.ok()) {
    const std::string largest = LargestThatFits(tpu, small);
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
