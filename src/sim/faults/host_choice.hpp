#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "jobman/base/result.hpp"
#include "sim/cloud/node.hpp"

namespace jobman::sim {

/// Hosts of a node, as the verb `host` names them: "3", "0-9,100", "*" for all, or a share of them
/// such as "1%" or "2.5%".
struct HostChoice {
  bool all = false;
  double percent = 0;             ///< 0: no share
  std::vector<int> numbers = {};  ///< ascending
};
base::Result<HostChoice> ParseHostChoice(const std::string& text);

/// The numbers of the chosen hosts, ascending. A share is rounded and at least one host; the seed
/// determines which of those that run and have nothing wrong with them, so that shares for several
/// faults are of different hosts.
base::Result<std::vector<std::size_t>> HostsOf(const Node& node, const HostChoice& choice,
                                               std::uint64_t seed);

}  // namespace jobman::sim
