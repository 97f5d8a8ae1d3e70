#pragma once

#include <functional>
#include <map>
#include <string>

#include "jobman/base/files.hpp"
#include "jobman/base/task.hpp"

namespace jobman::controller {

/// Values of secrets, per job number and name. Travel from the command line to the controller in
/// memory only.
using Secrets = std::map<std::int64_t, std::map<std::string, std::string>>;

/// What a command tells the controller: "look at the store now", and secrets for new runs.
struct Nudge {
  Secrets secrets = {};
};

/// Sends a nudge to the Unix datagram socket at `socket`; one with many secrets arrives in pieces.
/// kUnavailable when nobody listens, which is no harm where there are no secrets: the controller
/// looks at the store by itself each second.
base::Status SendNudge(const base::Path& socket, const Nudge& nudge);

/// Binds the socket (mode 0600, a stale one is replaced) and calls `on_nudge` for each until
/// cancelled. Errors: the socket cannot be bound.
base::Task<base::Status> ListenForNudges(base::Path socket, std::function<void(Nudge)> on_nudge);

}  // namespace jobman::controller
