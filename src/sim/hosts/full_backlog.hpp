#pragma once

#include <string>
#include <vector>

#include "jobman/base/handle.hpp"

namespace jobman::sim {

/// Connections that fill the backlog of a listener that accepts none. The kernel drops further
/// ones, so that clients hang while connecting, as if packets were lost, without a firewall or
/// root. Lasts as long as the descriptors.
using FullBacklog = std::vector<base::UniqueFd>;
FullBacklog FillBacklog(const std::vector<std::string>& addresses, int port);

}  // namespace jobman::sim
