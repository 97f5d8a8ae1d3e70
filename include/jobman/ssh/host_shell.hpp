#pragma once

#include <asio/any_io_executor.hpp>
#include <memory>

#include "jobman/ports/host_key_store.hpp"
#include "jobman/ports/host_shell.hpp"
#include "jobman/ssh/keys.hpp"

namespace jobman::ssh {

struct SshOptions {
  base::Duration connect_timeout = std::chrono::seconds{10};  ///< TCP; opening a channel
  /// Key exchange and login. Longer: a host that connects is there, though it may be slow.
  base::Duration login_timeout = std::chrono::seconds{30};
  int connect_window = 64;       ///< handshakes at once; the others wait in the order they came
  int channels_per_session = 8;  ///< commands at once on one connection; sshd allows 10
  PassphraseSource passphrase = EnvironmentPassphrase();
  bool use_agent = true;  ///< ask the agent of SSH_AUTH_SOCK after the key file
};

/// HostShell over libssh: non-blocking sessions on the one loop. A connection to a target is kept
/// and shared by the commands on it. One that breaks is closed at once, whether commands use it or
/// not, and made again by the next call. A peer that falls silent is noticed within about 30
/// seconds (TCP keepalive and user timeout).
///
/// Host keys: when the target brings vouched keys, the host's must be one of them, and it is
/// pinned. Otherwise it must be the pinned one; the first seen is pinned.
///
/// Cancelling Run() closes the command's channel and sends it TERM. sshd passes that on for
/// ordinary users, not for root.
///
/// Connections wait for packets: while there are some, the loop does not run dry. They end with the
/// shell. The object may die before its coroutines; the known hosts must outlive both. Talking to
/// the agent is the one thing that waits without the loop (libssh has no other way).
class SshHostShell final : public ports::HostShell {
 public:
  SshHostShell(asio::any_io_executor executor, ports::HostKeyStore& host_keys,
               SshOptions options = {});
  ~SshHostShell() override;

  ports::Task<ports::Result<int>> Run(ports::HostTarget target, ports::RemoteCommand command,
                                      ports::ByteSink out, ports::ByteSink err) override;
  /// Commands that run there end as if the connection had broken.
  void Drop(const ports::HostTarget& target) override;
  /// Connections that hold descriptors: open, being made, or broken and not yet let go.
  int sessions() const;

 private:
  std::shared_ptr<class SessionPool> pool_;
};

/// Raises the limit of open files to what the system allows; two are needed for each host. Gives
/// back the new limit.
long RaiseFileLimit();

}  // namespace jobman::ssh
