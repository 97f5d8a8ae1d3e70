#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ssh/connect.hpp"

namespace jobman::ssh {

/// The connections of a shell, by target. Commands on one target share sessions. Connecting is
/// shared too, and cancelled when nobody waits for it any more. A broken session is removed at
/// once, even if no command uses it; one that no command uses for long, or of too many, is closed.
class SessionPool : public std::enable_shared_from_this<SessionPool> {
 public:
  SessionPool(asio::any_io_executor executor, ports::HostKeyStore& host_keys, SshOptions options);

  // Each keeps the pool alive while it runs: the shell may die first.
  static Task<base::Result<int>> Run(std::shared_ptr<SessionPool> self, ports::SharedTarget target,
                                     ports::RemoteCommand command, ports::ByteSink out,
                                     ports::ByteSink err);
  static Task<base::Status> Relay(std::shared_ptr<SessionPool> self, ports::SharedTarget target,
                                  int port, std::shared_ptr<base::UniqueFd> local);
  /// Breaks every connection to that machine.
  void Drop(const std::string& identity);
  /// Breaks every connection.
  void Close();
  /// Connections that are being made, in the pool, or removed from it but still in use.
  int sessions() const { return *connector_->connections; }

 private:
  using SessionPtr = std::shared_ptr<Session>;
  /// A connection being made, and the callers that wait for it.
  struct Attempt {
    std::optional<base::Result<SessionPtr>> result = {};
    Waiters done = {};
    int waiting = 0;
    bool yields = false;  ///< all who wait do
    base::CancelScope scope = {};
  };
  struct Entry {
    std::vector<SessionPtr> sessions = {};  ///< usable ones
    std::shared_ptr<Attempt> attempt = {};
  };
  /// A session for one command.
  struct Use {
    SessionPtr session = {};
    bool reused = false;
    explicit Use(SessionPtr s, bool r) : session(std::move(s)), reused(r) { ++session->users; }
    Use(Use&&) = default;
    Use& operator=(Use&&) = delete;
    ~Use() {
      if (session && --session->users == 0) session->idle_since = std::chrono::steady_clock::now();
    }
  };

  Task<base::Result<std::shared_ptr<Use>>> Acquire(ports::SharedTarget target, bool yields);
  std::shared_ptr<Use> FindFree(const Entry& entry) const;
  std::shared_ptr<Use> FindVouched(const std::string& name) const;
  /// For one more connection within SshOptions::most_connections.
  base::Status MakeRoom();
  std::shared_ptr<Attempt> StartAttempt(const std::string& name, ports::SharedTarget target,
                                        bool yields);
  Task<void> Attend(ports::SharedTarget target, std::shared_ptr<Attempt> attempt);
  void FinishAttempt(const std::string& name, const std::shared_ptr<Attempt>& attempt);
  void Add(const std::string& name, const SessionPtr& session);
  void Remove(const std::string& name, const Session* session);
  static void End(Entry entry, const std::string& why);
  static Task<void> CloseIdleNowAndThen(std::weak_ptr<SessionPool> pool, base::Duration pause);
  void CloseIdle();
  std::vector<SessionPtr> Idle() const;

  asio::any_io_executor executor_;
  std::shared_ptr<Connector> connector_;
  base::Gate gate_;
  base::Gate yielding_gate_;                            ///< before the other one
  std::map<std::string, Entry> entries_;                ///< none is empty
  std::optional<base::CancelScope> closing_idle_ = {};  ///< while there are sessions
};

}  // namespace jobman::ssh
