#pragma once

#include <memory>

#include "jobman/ssh/host_shell.hpp"
#include "ssh/private_keys.hpp"
#include "ssh/session.hpp"

namespace jobman::ssh {

/// What connecting needs; shared by all connections of a shell.
struct Connector {
  SshOptions options = {};
  ports::HostKeyStore* host_keys = nullptr;
  PrivateKeys keys{nullptr};
  std::shared_ptr<int> connections = std::make_shared<int>(0);  ///< see Counted
};

/// One try: TCP, or a proxy's answer, within its timeout; key exchange, host key and login within
/// the login timeout.
Task<base::Result<std::shared_ptr<Session>>> Connect(ports::SharedTarget target,
                                                     std::shared_ptr<Connector> connector);

}  // namespace jobman::ssh
