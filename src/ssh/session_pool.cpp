#include "ssh/session_pool.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ssh/exec.hpp"

namespace jobman::ssh {
namespace {

/// Two targets with equal members share one connection.
std::string NameOf(const ports::HostTarget& target) {
  std::string name = fmt::format("{}\n{}\n{}\n{}\n{}", target.address, target.port, target.user,
                                 target.private_key, target.identity);
  for (const auto& [type, key] : target.vouched_keys) name += "\n" + type + " " + key;
  return name;
}

}  // namespace

SessionPool::SessionPool(asio::any_io_executor executor, KnownHosts& known_hosts,
                         SshOptions options)
    : executor_(std::move(executor)), gate_(options.connect_window) {
  auto passphrase = options.passphrase;
  connector_ = std::make_shared<Connector>(Connector{.options = std::move(options),
                                                     .known_hosts = &known_hosts,
                                                     .keys = PrivateKeys(std::move(passphrase))});
}

std::shared_ptr<SessionPool::Use> SessionPool::FindFree(Entry& entry) const {
  std::erase_if(entry.sessions,
                [](const SessionPtr& one) { return !one->alive() || one->retired(); });
  for (const auto& session : entry.sessions)
    if (session->users < connector_->options.channels_per_session)
      return std::make_shared<Use>(session, true);
  return nullptr;
}

Task<base::Result<std::shared_ptr<SessionPool::Use>>> SessionPool::Acquire(
    ports::HostTarget target) {
  const std::string name = NameOf(target);
  bool is_new = false;
  while (true) {
    Entry& entry = entries_[name];
    if (auto use = FindFree(entry)) {
      use->reused = !is_new;
      co_return use;
    }
    const auto attempt = entry.attempt ? entry.attempt : StartAttempt(name, target);
    struct Waiting {
      std::shared_ptr<Attempt> attempt;
      ~Waiting() {
        if (--attempt->waiting == 0 && !attempt->result) attempt->scope.Cancel();
      }
    };
    ++attempt->waiting;
    const Waiting waiting{attempt};
    while (!attempt->result) co_await attempt->done.Wait();
    if (!attempt->result->ok()) co_return attempt->result->error();
    is_new = true;
  }
}

std::shared_ptr<SessionPool::Attempt> SessionPool::StartAttempt(const std::string& name,
                                                                const ports::HostTarget& target) {
  auto attempt = std::make_shared<Attempt>();
  entries_[name].attempt = attempt;
  base::Spawn(executor_, attempt->scope, Attend(target, attempt),
              [self = shared_from_this(), name, attempt](bool /*cancelled*/) {
                self->FinishAttempt(name, attempt);
              });
  return attempt;
}

Task<void> SessionPool::Attend(ports::HostTarget target, std::shared_ptr<Attempt> attempt) {
  const auto pass = co_await gate_.Enter();
  auto result = co_await Connect(target, connector_);
  attempt->result = std::move(result);
}

void SessionPool::FinishAttempt(const std::string& name, const std::shared_ptr<Attempt>& attempt) {
  if (!attempt->result) {
    attempt->result = Error{.code = base::Code::kUnavailable,
                            .message = "the connection attempt was given up",
                            .reason = base::Reason::kHostTimeout};
  }
  const auto entry = entries_.find(name);
  if (entry != entries_.end() && entry->second.attempt == attempt) {
    entry->second.attempt.reset();
    if (attempt->result->ok()) entry->second.sessions.push_back(attempt->result->value());
    if (entry->second.sessions.empty()) entries_.erase(entry);
  }
  attempt->done.WakeAll();
}

Task<base::Result<int>> SessionPool::Run(ports::HostTarget target, ports::RemoteCommand command,
                                         ports::ByteSink out, ports::ByteSink err) {
  while (true) {
    JM_CO_ASSIGN_OR_RETURN(auto use, co_await Acquire(target));
    bool started = false;
    auto result = co_await Exec(use->session, command, out, err,
                                connector_->options.connect_timeout, &started);
    if (result.ok()) co_return result;
    if (started) co_return std::move(result).error().With(kWasRunning);
    // An idle connection may have died unnoticed: nothing has run yet, a new one is worth it.
    use->session->Retire();
    if (!use->reused) co_return result;
  }
}

void SessionPool::Drop(const ports::HostTarget& target) {
  const auto entry = entries_.find(NameOf(target));
  if (entry == entries_.end()) return;
  for (const auto& session : entry->second.sessions) session->Break("dropped");
  if (entry->second.attempt) entry->second.attempt->scope.Cancel();
  entries_.erase(entry);
}

void SessionPool::Close() {
  for (auto& [name, entry] : entries_) {
    for (const auto& session : entry.sessions) session->Break("closed");
    if (entry.attempt) entry.attempt->scope.Cancel();
  }
  entries_.clear();
}

int SessionPool::sessions() const {
  int count = 0;
  for (const auto& [name, entry] : entries_)
    count += static_cast<int>(std::count_if(entry.sessions.begin(), entry.sessions.end(),
                                            [](const auto& one) { return one->alive(); }));
  return count;
}

}  // namespace jobman::ssh
