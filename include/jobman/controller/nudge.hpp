#pragma once

#include <functional>
#include <map>
#include <string>

#include "jobman/base/files.hpp"
#include "jobman/base/task.hpp"

namespace jobman::controller {

/// Values of secrets, per job number and name. They reach the controller from the command line in
/// memory only.
using Secrets = std::map<std::int64_t, std::map<std::string, std::string>>;

/// What a command tells the controller: "look at the store now", and secrets for new runs.
struct Nudge {
  Secrets secrets = {};
};

/// Sends a nudge to the Unix datagram socket at `socket`; many secrets are sent in several
/// datagrams. kUnavailable when nobody listens, which only matters if there are secrets: the
/// controller reads the store every second anyway.
base::Status SendNudge(const base::Path& socket, const Nudge& nudge);

/// Binds the socket (mode 0600, replacing a stale one) and calls `on_nudge` for each nudge until
/// cancelled. Errors: the socket cannot be bound.
base::Task<base::Status> ListenForNudges(base::Path socket, std::function<void(Nudge)> on_nudge);

}  // namespace jobman::controller
