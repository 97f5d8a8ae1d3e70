#include "jobman/core/prices.hpp"

#include <algorithm>
#include <set>

#include "core/price_list_text.hpp"
#include "jobman/base/check.hpp"
#include "jobman/base/clean.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/core/accelerators.hpp"

namespace jobman::core {
namespace {

const ChipPrice* FindRow(const PriceList& prices, std::string_view generation,
                         std::string_view zone) {
  const auto row = std::find_if(prices.chips.begin(), prices.chips.end(), [&](const auto& one) {
    return one.generation == generation && one.zone == zone;
  });
  return row == prices.chips.end() ? nullptr : &*row;
}

std::optional<double> OfAllChips(const std::optional<double>& price, const TpuSpec& tpu,
                                 const Accelerator& accelerator) {
  if (!price) return std::nullopt;
  return *price * accelerator.chips * tpu.num_slices;
}

}  // namespace

const PriceList& BuiltInPrices() {
  static const PriceList list = [] {
    auto read = ReadPriceList(PriceListText());
    JM_CHECK(read.ok(), "the built-in price list cannot be read");
    return *std::move(read);
  }();
  return list;
}

PriceList OverOther(PriceList first, const PriceList& second) {
  for (const ChipPrice& row : second.chips)
    if (FindRow(first, row.generation, row.zone) == nullptr) first.chips.push_back(row);
  first.sources.insert(first.sources.end(), second.sources.begin(), second.sources.end());
  return first;
}

std::string SourcesText(const std::vector<PriceSource>& sources) {
  std::vector<std::string> texts;
  for (const PriceSource& source : sources)
    texts.push_back(base::CleanLine(source.name) + ", read " + source.date);
  return base::Join(texts, "; what that lacks: ");
}

HourPrices ChipPrices(const PriceList& prices, std::string_view generation, std::string_view zone) {
  const ChipPrice* const row = FindRow(prices, generation, zone);
  return row == nullptr ? HourPrices() : row->hour;
}

std::optional<double> HourlyPrice(const PriceList& prices, const TpuSpec& tpu) {
  // The list has no prices of Dynamic Workload Scheduler.
  const bool listed =
      tpu.pricing != Pricing::kFlexStart && tpu.pricing != Pricing::kReservationBound;
  if (!listed) return std::nullopt;
  const bool spot = tpu.pricing == Pricing::kSpot || tpu.pricing == Pricing::kPreemptible;
  if (!spot) return OnDemandPrice(prices, tpu);
  const auto accelerator = FindAccelerator(tpu.accelerator);
  if (!accelerator.ok()) return std::nullopt;
  const HourPrices of_chip = ChipPrices(prices, accelerator->generation, tpu.zone);
  return OfAllChips(of_chip.spot, tpu, *accelerator);
}

std::optional<double> OnDemandPrice(const PriceList& prices, const TpuSpec& tpu) {
  const auto accelerator = FindAccelerator(tpu.accelerator);
  if (!accelerator.ok()) return std::nullopt;
  const HourPrices of_chip = ChipPrices(prices, accelerator->generation, tpu.zone);
  return OfAllChips(of_chip.on_demand, tpu, *accelerator);
}

std::vector<std::string> ZonesWithPrice(const PriceList& prices, std::string_view generation) {
  std::set<std::string> zones;
  for (const ChipPrice& price : prices.chips)
    if (generation.empty() || price.generation == generation) zones.insert(price.zone);
  return {zones.begin(), zones.end()};
}

}  // namespace jobman::core
