#pragma once

#include <cstddef>

#include "sim/cloud/node.hpp"
#include "sim/hosts/guest_metadata.hpp"

namespace jobman::sim {

/// What host `index` of a node reads on its metadata server.
GuestTree GuestTreeOf(const Node& node, std::size_t index);

/// The node's `upcomingMaintenance` as a host reads it: {"window_start_time": ..}.
Json GuestMaintenance(const Json& upcoming);

}  // namespace jobman::sim
