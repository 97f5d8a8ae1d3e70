#pragma once

#include <string>
#include <vector>

#include "jobman/base/handle.hpp"

namespace jobman::sim {

/// Connections that fill the backlog of a listener whose server accepts none. The kernel drops
/// further ones, so that clients hang while they connect, as if no packet arrived: it takes neither
/// a firewall nor root. It lasts as long as the descriptors.
using FullBacklog = std::vector<base::UniqueFd>;
FullBacklog FillBacklog(const std::vector<std::string>& addresses, int port);

}  // namespace jobman::sim
