#include "sim/faults/host_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <random>

#include "jobman/base/strings.hpp"
#include "jobman/core/job_spec.hpp"

namespace jobman::sim {

namespace {

base::Result<double> ParsePercent(const std::string& text) {
  double percent = 0;
  const char* const end = text.data() + text.size() - 1;
  const auto read = std::from_chars(text.data(), end, percent, std::chars_format::fixed);
  if (read.ec == std::errc() && read.ptr == end && percent > 0 && percent <= 100) return percent;
  return base::InvalidArgument("\"" + text + "\" is not a share of hosts", "for example 1%");
}

bool IsWell(const NodeHost& host) {
  return host.running && !host.cut && !host.hung && host.fault == HostFaultKind::kNone;
}

base::Result<std::vector<std::size_t>> Share(const Node& node, double percent, std::uint64_t seed) {
  std::vector<std::size_t> well;
  for (std::size_t i = 0; i < node.hosts.size(); ++i)
    if (IsWell(node.hosts[i])) well.push_back(i);
  const auto wanted = static_cast<std::size_t>(
      std::max(1L, std::lround(percent / 100 * static_cast<double>(node.hosts.size()))));
  if (well.size() < wanted) {
    return base::InvalidArgument(
        fmt::format("{:g} % of the hosts of {} are {}, but only {} run and have no fault", percent,
                    node.key.id, wanted, well.size()));
  }
  // Not std::shuffle, whose choice differs between libraries.
  std::mt19937_64 engine(seed);
  for (std::size_t i = 0; i < wanted; ++i)
    std::swap(well[i], well[i + engine() % (well.size() - i)]);
  well.resize(wanted);
  std::sort(well.begin(), well.end());
  return well;
}

}  // namespace

base::Result<HostChoice> ParseHostChoice(const std::string& text) {
  if (text == "*") return HostChoice{.all = true};
  HostChoice choice;
  if (text.ends_with('%')) {
    JM_ASSIGN_OR_RETURN(choice.percent, ParsePercent(text));
    return choice;
  }
  JM_ASSIGN_OR_RETURN(core::HostSet set, core::ParseHostSet(text));
  choice.all = set.all;
  choice.numbers = std::move(set.numbers);
  return choice;
}

base::Result<std::vector<std::size_t>> HostsOf(const Node& node, const HostChoice& choice,
                                               std::uint64_t seed) {
  if (choice.percent > 0) return Share(node, choice.percent, seed);
  std::vector<std::size_t> hosts;
  for (std::size_t i = 0; choice.all && i < node.hosts.size(); ++i) hosts.push_back(i);
  for (const int number : choice.numbers) hosts.push_back(static_cast<std::size_t>(number));
  if (hosts.empty() || hosts.back() < node.hosts.size()) return hosts;
  return base::InvalidArgument(
      fmt::format("node {} has {}, numbered from 0", node.key.id,
                  base::Plural(static_cast<std::int64_t>(node.hosts.size()), "host")));
}

}  // namespace jobman::sim
