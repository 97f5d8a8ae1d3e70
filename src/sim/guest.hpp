#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "sim/node.hpp"

namespace jobman::sim {

/// One answer of the metadata server that a machine sees.
struct GuestReply {
  int status = 200;
  std::string body = {};
  std::string type = "application/text";
  /// Changes with the body; what `last_etag` names.
  std::string ETag() const;
};

/// All that host `index` of a node can read, by path: "instance/preempted" to "FALSE".
using GuestTree = std::map<std::string, std::string>;
GuestTree GuestTreeOf(const Node& node, std::size_t index);

/// The value at `path` ("/computeMetadata/v1/instance/preempted"), or the listing of a folder, or
/// with `recursive` all below it as JSON.
GuestReply LookUp(const GuestTree& tree, const std::string& path, bool recursive);

/// The node's `upcomingMaintenance` in the words of the guest: {"window_start_time": ..}.
Json GuestMaintenance(const Json& upcoming);

}  // namespace jobman::sim
