#pragma once

#include <memory>
#include <string>

#include "ssh/session.hpp"

namespace jobman::ssh {

/// The ssh-agent that a session asks. libssh does that with calls that block without a limit.
struct Agent {
  std::string path = {};  ///< $SSH_AUTH_SOCK
  base::UniqueFd socket = {};
};

/// Does not block. Empty if nobody listens there, which sets errno.
base::UniqueFd ConnectToSocket(const std::string& path);

/// Connects the session to the agent that listens at `path`; nullptr if there is none, kAgentSilent
/// if it accepts no connections.
base::Result<std::shared_ptr<const Agent>> ConnectToAgent(const Session& session,
                                                          const std::string& path);

/// One step of the login with the agent's keys, off the loop: the result of ssh_userauth_agent(),
/// or kAgentSilent if the agent does not answer until the deadline. Nothing else may use the
/// session meanwhile.
Task<base::Result<int>> AskAgent(std::shared_ptr<Session> session,
                                 std::shared_ptr<const Agent> agent, Deadline deadline);

}  // namespace jobman::ssh
