#include "jobman/core/job_spec.hpp"

#include <algorithm>

#include "jobman/base/strings.hpp"

namespace jobman::core {
namespace {

/// Far above the largest slice (1,536 hosts), and small enough to expand a range.
constexpr std::int64_t kMaxHost = 99'999;

base::Error BadPart(std::string_view part) {
  return base::InvalidArgument("\"" + std::string(part) + "\" is not a host number or range",
                               "write \"all\", or numbers and ranges such as \"0,3-7\"");
}

/// Appends the numbers of "3" or "3-7".
base::Status AppendPart(std::string_view part, std::vector<int>& numbers) {
  const std::size_t dash = part.find('-');
  const auto first = base::ParseNumber(base::Trim(part.substr(0, dash)));
  const auto last =
      dash == std::string_view::npos ? first : base::ParseNumber(base::Trim(part.substr(dash + 1)));
  if (!first || !last || *last > kMaxHost || *first > kMaxHost) return BadPart(part);
  if (*last < *first) {
    return base::InvalidArgument("the range \"" + std::string(part) + "\" is backwards",
                                 "write the smaller number first");
  }
  for (std::int64_t host = *first; host <= *last; ++host) numbers.push_back(static_cast<int>(host));
  return base::Ok();
}

}  // namespace

bool HostSet::Contains(int host) const {
  return all || std::binary_search(numbers.begin(), numbers.end(), host);
}

std::string AcceleratorText(const TpuSpec& tpu) {
  const std::string topology = tpu.topology.empty() ? "" : " (" + tpu.topology + ")";
  if (tpu.num_slices == 1) return tpu.accelerator + topology;
  return std::to_string(tpu.num_slices) + " x " + tpu.accelerator + topology;
}

std::string_view AllocationModeName(AllocationMode mode) {
  switch (mode) {
    case AllocationMode::kQueuedResources:
      return "queued-resources";
    case AllocationMode::kTpuVm:
      return "tpu-vm";
  }
  return {};
}

std::string_view HostKeyRuleName(HostKeyRule rule) {
  switch (rule) {
    case HostKeyRule::kFirstUse:
      return "first-use";
    case HostKeyRule::kStrict:
      return "strict";
  }
  return {};
}

std::string_view AddressChoiceName(AddressChoice choice) {
  switch (choice) {
    case AddressChoice::kExternal:
      return "external";
    case AddressChoice::kInternal:
      return "internal";
  }
  return {};
}

std::string_view PricingName(Pricing pricing) {
  switch (pricing) {
    case Pricing::kSpot:
      return "spot";
    case Pricing::kOnDemand:
      return "ondemand";
    case Pricing::kPreemptible:
      return "preemptible";
    case Pricing::kReserved:
      return "reserved";
    case Pricing::kFlexStart:
      return "flex-start";
    case Pricing::kReservationBound:
      return "reservation-bound";
  }
  return {};
}

std::string_view SliceUseName(SliceUse use) {
  switch (use) {
    case SliceUse::kKeep:
      return "keep";
    case SliceUse::kDelete:
      return "delete";
  }
  return {};
}

std::string_view WatchdogActionName(WatchdogAction action) {
  switch (action) {
    case WatchdogAction::kRestart:
      return "restart";
    case WatchdogAction::kNewSlice:
      return "new_slice";
    case WatchdogAction::kFail:
      return "fail";
  }
  return {};
}

std::string ElementText(const JobSpec& spec) {
  std::string text = spec.array.value;
  for (const auto& [name, value] : spec.matrix) {
    text += (text.empty() ? "" : ", ") + name + "=" + value;
  }
  return text;
}

std::string HostsText(int count) {
  return count == 1 ? "only host 0" : "hosts 0-" + std::to_string(count - 1);
}

std::string HostSetText(const HostSet& hosts) {
  return hosts.all ? "all" : base::FormatRanges(hosts.numbers);
}

base::Result<HostSet> ParseHostSet(std::string_view text) {
  if (base::Trim(text) == "all") return HostSet{};
  HostSet hosts{.all = false};
  for (const std::string& part : base::Split(text, ',')) {
    JM_TRY(AppendPart(base::Trim(part), hosts.numbers));
    // Too many numbers: one must repeat, which is reported below.
    if (hosts.numbers.size() > kMaxHost + 1) break;
  }
  std::sort(hosts.numbers.begin(), hosts.numbers.end());
  const auto twice = std::adjacent_find(hosts.numbers.begin(), hosts.numbers.end());
  if (twice != hosts.numbers.end()) {
    return base::InvalidArgument("host " + std::to_string(*twice) + " is listed twice",
                                 "list each host once");
  }
  return hosts;
}

std::string AwaitedTask(const QueueSpec& queue) {
  return queue.config.empty() ? "a submitted task" : "a task of " + queue.config;
}

}  // namespace jobman::core
