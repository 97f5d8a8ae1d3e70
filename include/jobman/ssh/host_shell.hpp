#pragma once

#include <asio/any_io_executor.hpp>
#include <cstddef>
#include <memory>
#include <optional>

#include "jobman/ports/host_key_store.hpp"
#include "jobman/ports/host_shell.hpp"
#include "jobman/ssh/keys.hpp"

namespace jobman::ssh {

inline constexpr base::Duration kConnectTimeout = std::chrono::seconds{10};
inline constexpr base::Duration kLoginTimeout = std::chrono::seconds{30};
/// Of a proxy command. Some take seconds of a processor to start, and those of many hosts start at
/// once: a shorter limit could end all of them, again and again.
inline constexpr base::Duration kProxyTimeout = std::chrono::seconds{30};
static_assert(kConnectTimeout < kLoginTimeout, "a host that accepts TCP is up, though maybe slow");

struct SshOptions {
  base::Duration connect_timeout = kConnectTimeout;  ///< TCP; opening a channel
  base::Duration login_timeout = kLoginTimeout;      ///< key exchange and login
  /// From the start of a proxy command to the host's greeting.
  base::Duration proxy_timeout = kProxyTimeout;
  /// Of the other side of a proxy, which is asked for answers: then the connection is broken.
  base::Duration proxy_silence = std::chrono::seconds{30};
  int connect_window = 64;  ///< handshakes at once; others wait, first come, first served
  /// Open at once, see HostsAtOnce(); 0: any number. For one more an idle connection is closed; if
  /// none is idle, the call fails with kResourceExhausted.
  int most_connections = 0;
  int channels_per_session = 8;  ///< commands at once on one connection; sshd allows 10
  /// A connection that no command uses for this long is closed, a quarter of this later at most;
  /// nothing: it is kept until the shell ends.
  std::optional<base::Duration> longest_idle = {};
  /// Of more that no command uses, those that were used last are kept.
  std::size_t most_idle = 2048;
  PassphraseSource passphrase = EnvironmentPassphrase();
  bool use_agent = true;  ///< try the agent of SSH_AUTH_SOCK after the key file
};

/// HostShell over libssh: non-blocking sessions on the one loop. A connection to a target is kept
/// and shared by the commands on it. A broken one is closed at once, in use or not, and replaced by
/// the next call. A silent peer is detected within about 30 seconds (TCP keepalive and user
/// timeout).
///
/// A target without vouched keys, whose host's key is pinned already, shares the connections of one
/// that is the same but for its vouched keys: theirs are pinned under the same name.
///
/// Commands that yield (RemoteCommand::yields) have three quarters of the connect window.
///
/// A target with a proxy (HostTarget::proxy_jump, proxy_command) is reached through a child process
/// of its own for each connection, which ends with the connection. The host's key and the login are
/// the same as without.
///
/// Host keys: if the target brings vouched keys, the host's must be one of them, and it is pinned.
/// Otherwise it must be the pinned one; the first one seen is pinned.
///
/// Cancelling Run() closes the command's channel and sends it TERM. sshd delivers that for ordinary
/// users, not for root.
///
/// Open connections keep the loop from running dry; they end with the shell. The object may die
/// before its coroutines; the host key store must outlive both. libssh's talk with the ssh-agent
/// blocks, so it runs off the loop, within the login timeout.
class SshHostShell final : public ports::HostShell {
 public:
  SshHostShell(asio::any_io_executor executor, ports::HostKeyStore& host_keys,
               SshOptions options = {});
  ~SshHostShell() override;

  ports::Task<ports::Result<int>> Run(ports::SharedTarget target, ports::RemoteCommand command,
                                      ports::ByteSink out, ports::ByteSink err) override;
  ports::Task<ports::Status> Relay(ports::SharedTarget target, int port,
                                   std::shared_ptr<base::UniqueFd> local) override;
  /// Commands that run there fail as if the connection had broken.
  void Drop(const ports::HostTarget& target) override;
  /// Connections that hold descriptors: open, being made, or broken and not yet released.
  int sessions() const;

 private:
  std::shared_ptr<class SessionPool> pool_;
};

/// "0.10.6/openssl/zlib": of libssh, and what it uses.
std::string LibsshVersion();

}  // namespace jobman::ssh
