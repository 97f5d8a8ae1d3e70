#pragma once

#include <cstddef>

#include "sim/cloud/node.hpp"
#include "sim/hosts/guest_metadata.hpp"

namespace jobman::sim {

/// The metadata that host `index` of a node reads.
GuestTree GuestTreeOf(const Node& node, std::size_t index);

/// The node's `upcomingMaintenance` in the metadata server's form: {"window_start_time": ..}.
Json GuestMaintenance(const Json& upcoming);

}  // namespace jobman::sim
