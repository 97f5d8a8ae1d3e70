#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "jobman/client/top.hpp"

namespace jobman::client {
namespace {

using Value = std::optional<double>;

Value DutyOf(const TopHost& host) {
  return host.look ? host.look->duty_percent : std::nullopt;
}
Value CpuOf(const TopHost& host) {
  return host.look ? host.look->cpu_percent : std::nullopt;
}
Value LoadOf(const TopHost& host) {
  return host.look ? host.look->load : std::nullopt;
}
Value ShareOf(const std::optional<remote::Amount>& amount) {
  if (!amount) return std::nullopt;
  return static_cast<double>(amount->used) / static_cast<double>(amount->total);
}
Value MemoryOf(const TopHost& host) {
  return host.look ? ShareOf(host.look->memory) : std::nullopt;
}
/// The fuller one.
Value DiskOf(const TopHost& host) {
  if (!host.look) return std::nullopt;
  return std::max(ShareOf(host.look->root_disk), ShareOf(host.look->home_disk));
}

/// By what a host may stand apart.
struct Yardstick {
  const char* name = "";
  Value (*of)(const TopHost&) = nullptr;
  double least = 0;  ///< points of a percentage that are nothing special
};
constexpr std::array kYardsticks = {Yardstick{"duty cycle", DutyOf, 10},
                                    Yardstick{"CPU", CpuOf, 20}};
constexpr double kFarther = 3;
/// Of fewer, nobody knows which one is the odd one.
constexpr std::size_t kFewest = 3;

/// Of at least one value.
double Median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

void MarkBy(const Yardstick& by, std::vector<TopHost>& hosts) {
  std::vector<double> values;
  for (const TopHost& host : hosts) {
    if (const Value value = by.of(host)) values.push_back(*value);
  }
  if (values.size() < kFewest) return;
  const double median = Median(values);
  for (double& value : values) value = std::abs(value - median);
  const double limit = std::max(by.least, kFarther * Median(values));
  for (TopHost& host : hosts) {
    const Value value = by.of(host);
    if (!value || std::abs(*value - median) <= limit) continue;
    host.distance = std::max(host.distance, std::abs(*value - median) / limit);
    host.apart += fmt::format("{}{} {:.0f}%, median {:.0f}%", host.apart.empty() ? "" : "; ",
                              by.name, *value, median);
  }
}

/// What comes first has the lowest rank.
double SortKeyOf(const TopHost& host, TopOrder order) {
  const auto highest_first = [](Value value) { return -value.value_or(-1); };
  switch (order) {
    case TopOrder::kStragglers:
      return -host.distance;
    case TopOrder::kHost:
      return 0;
    case TopOrder::kLoad:
      return highest_first(LoadOf(host));
    case TopOrder::kCpu:
      return highest_first(CpuOf(host));
    case TopOrder::kMemory:
      return highest_first(MemoryOf(host));
    case TopOrder::kDisk:
      return highest_first(DiskOf(host));
    case TopOrder::kDuty:
      return DutyOf(host).value_or(101);
  }
  return 0;
}

}  // namespace

void MarkStragglers(std::vector<TopHost>& hosts) {
  for (TopHost& host : hosts) {
    host.apart.clear();
    host.distance = 0;
  }
  for (const Yardstick& by : kYardsticks) MarkBy(by, hosts);
}

void SortHosts(std::vector<TopHost>& hosts, TopOrder order) {
  std::sort(hosts.begin(), hosts.end(), [order](const TopHost& one, const TopHost& other) {
    const double rank = SortKeyOf(one, order), others = SortKeyOf(other, order);
    return rank != others ? rank < others : one.host < other.host;
  });
}

}  // namespace jobman::client
