#include "ssh/session_pool.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "jobman/base/strings.hpp"
#include "jobman/ssh/file_limit.hpp"
#include "ssh/exec.hpp"
#include "ssh/relay.hpp"

namespace jobman::ssh {
namespace {

/// The common prefix of the names of all targets on one machine.
std::string MachinePrefix(const std::string& identity) {
  return identity + "\n";
}

/// Two targets with equal members share one connection.
std::string NameOf(const ports::HostTarget& target) {
  std::string name = MachinePrefix(target.identity) +
                     fmt::format("{}\n{}\n{}\n{}\n{}", target.address, target.port, target.user,
                                 target.private_key, target.forward_agent ? "with agent" : "");
  name += "\n" + target.proxy_jump + "\n" + target.proxy_command;
  for (const auto& [type, key] : target.vouched_keys) name += "\n" + type + " " + key;
  return name;
}

base::Error TooManyConnections(int most) {
  return {.code = base::Code::kResourceExhausted,
          .message = fmt::format("the limit of open files here is {}, too low for more than {} at "
                                 "once",
                                 FileLimit(), base::Plural(most, "host")),
          .hint = "raise the hard limit of open files (ulimit -Hn)"};
}

/// A command that had begun may have done its work, so it must not be repeated.
base::Error WhileItRan(base::Error error) {
  if (error.reason == base::Reason::kHostHangs) return error;
  if (error.reason == base::Reason::kHostTimeout) error.reason = base::Reason::kConnectionBroke;
  return std::move(error).With("while the command ran");
}

}  // namespace

SessionPool::SessionPool(asio::any_io_executor executor, ports::HostKeyStore& host_keys,
                         SshOptions options)
    : executor_(std::move(executor)),
      gate_(options.connect_window),
      yielding_gate_(std::max(1, options.connect_window * 3 / 4)) {
  auto passphrase = options.passphrase;
  connector_ = std::make_shared<Connector>(Connector{.options = std::move(options),
                                                     .host_keys = &host_keys,
                                                     .keys = PrivateKeys(std::move(passphrase))});
}

std::shared_ptr<SessionPool::Use> SessionPool::FindFree(const Entry& entry) const {
  for (const auto& session : entry.sessions)
    if (session->users < connector_->options.channels_per_session)
      return std::make_shared<Use>(session, true);
  return nullptr;
}

/// Of a target that brings no vouched keys, whose name is the beginning of theirs.
std::shared_ptr<SessionPool::Use> SessionPool::FindVouched(const std::string& name) const {
  const std::string begin = name + "\n";
  for (auto entry = entries_.lower_bound(begin);
       entry != entries_.end() && entry->first.starts_with(begin); ++entry) {
    if (auto use = FindFree(entry->second)) return use;
  }
  return nullptr;
}

base::Status SessionPool::MakeRoom() {
  const int most = connector_->options.most_connections;
  while (most > 0 && sessions() >= most) {
    const auto idle = Idle();
    if (idle.empty()) return TooManyConnections(most);
    idle.back()->Break(
        "closed for a connection to another host");  // which removes it from the pool
  }
  return base::Ok();
}

Task<base::Result<std::shared_ptr<SessionPool::Use>>> SessionPool::Acquire(
    ports::SharedTarget target, bool yields) {
  const std::string name = NameOf(target);
  bool is_new = false;
  while (true) {
    if (target->vouched_keys.empty()) {
      if (auto use = FindVouched(name)) co_return use;
    }
    Entry& entry = entries_[name];
    if (auto use = FindFree(entry)) {
      use->reused = !is_new;
      co_return use;
    }
    // One that yields to others would make this one wait for them.
    const bool join = entry.attempt && (yields || !entry.attempt->yields);
    const auto attempt = join ? entry.attempt : StartAttempt(name, target, yields);
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
                                                                ports::SharedTarget target,
                                                                bool yields) {
  auto attempt = std::make_shared<Attempt>();
  attempt->yields = yields;
  entries_[name].attempt = attempt;
  base::Spawn(executor_, attempt->scope, Attend(std::move(target), attempt),
              [self = shared_from_this(), name, attempt](bool /*cancelled*/) {
                self->FinishAttempt(name, attempt);
              });
  return attempt;
}

Task<void> SessionPool::Attend(ports::SharedTarget target, std::shared_ptr<Attempt> attempt) {
  std::optional<base::Gate::Pass> first;
  if (attempt->yields) {
    auto place = co_await yielding_gate_.Enter();
    first.emplace(std::move(place));
  }
  const auto pass = co_await gate_.Enter();
  if (base::Status room = MakeRoom(); !room.ok()) {
    attempt->result = std::move(room).error();
    co_return;
  }
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
    if (attempt->result->ok() && attempt->result->value()->usable()) {
      Add(name, attempt->result->value());
    }
    if (entry->second.sessions.empty()) entries_.erase(entry);
  }
  attempt->done.WakeAll();
}

void SessionPool::Add(const std::string& name, const SessionPtr& session) {
  session->idle_since = std::chrono::steady_clock::now();
  entries_[name].sessions.push_back(session);
  session->OnUnusable([weak = weak_from_this(), name, raw = session.get()] {
    if (const auto self = weak.lock()) self->Remove(name, raw);
  });
  const auto& longest = connector_->options.longest_idle;
  if (!longest || closing_idle_) return;
  closing_idle_.emplace();
  base::Spawn(executor_, *closing_idle_, CloseIdleNowAndThen(weak_from_this(), *longest / 4));
}

Task<void> SessionPool::CloseIdleNowAndThen(std::weak_ptr<SessionPool> pool, base::Duration pause) {
  while (true) {
    co_await base::Sleep(pause);
    const auto self = pool.lock();
    if (!self) co_return;
    self->CloseIdle();
  }
}

/// The one that was used last comes first.
std::vector<SessionPool::SessionPtr> SessionPool::Idle() const {
  std::vector<SessionPtr> idle;
  for (const auto& [name, entry] : entries_) {
    for (const SessionPtr& session : entry.sessions)
      if (session->users == 0) idle.push_back(session);
  }
  std::sort(idle.begin(), idle.end(), [](const SessionPtr& one, const SessionPtr& other) {
    return one->idle_since > other->idle_since;
  });
  return idle;
}

void SessionPool::CloseIdle() {
  const SshOptions& options = connector_->options;
  const Deadline too_old = std::chrono::steady_clock::now() - *options.longest_idle;
  const auto idle = Idle();
  for (std::size_t i = 0; i < idle.size(); ++i) {
    if (i >= options.most_idle || idle[i]->idle_since <= too_old) idle[i]->Break("not used");
  }
  if (entries_.empty()) closing_idle_.reset();
}

void SessionPool::Remove(const std::string& name, const Session* session) {
  const auto entry = entries_.find(name);
  if (entry == entries_.end()) return;
  std::erase_if(entry->second.sessions,
                [session](const SessionPtr& one) { return one.get() == session; });
  if (entry->second.sessions.empty() && !entry->second.attempt) entries_.erase(entry);
}

Task<base::Result<int>> SessionPool::Run(std::shared_ptr<SessionPool> self,
                                         ports::SharedTarget target, ports::RemoteCommand command,
                                         ports::ByteSink out, ports::ByteSink err) {
  while (true) {
    JM_CO_ASSIGN_OR_RETURN(auto use, co_await self->Acquire(target, command.yields));
    bool started = false;
    auto result = co_await Exec(use->session, &command, &out, &err,
                                self->connector_->options.connect_timeout, &started);
    if (result.ok()) co_return result;
    if (started) co_return WhileItRan(std::move(result).error());
    // An idle connection may have died unnoticed. Nothing has run yet, so try a new one.
    use->session->Retire();
    if (!use->reused) co_return result;
  }
}

Task<base::Status> SessionPool::Relay(std::shared_ptr<SessionPool> self, ports::SharedTarget target,
                                      int port, std::shared_ptr<base::UniqueFd> local) {
  while (true) {
    JM_CO_ASSIGN_OR_RETURN(auto use, co_await self->Acquire(target, false));
    bool answered = false;
    auto result = co_await RelayOn(use->session, port, local,
                                   self->connector_->options.connect_timeout, &answered);
    if (result.ok() || answered) co_return result;
    use->session->Retire();
    if (!use->reused) co_return result;
  }
}

void SessionPool::End(Entry entry, const std::string& why) {
  for (const auto& session : entry.sessions) session->Break(why);
  if (entry.attempt) entry.attempt->scope.Cancel();
}

void SessionPool::Drop(const std::string& identity) {
  const std::string machine = MachinePrefix(identity);
  while (true) {
    const auto entry = entries_.lower_bound(machine);
    if (entry == entries_.end() || !entry->first.starts_with(machine)) return;
    End(std::move(entries_.extract(entry).mapped()), "dropped");
  }
}

void SessionPool::Close() {
  closing_idle_.reset();
  while (!entries_.empty()) {
    End(std::move(entries_.extract(entries_.begin()).mapped()), "closed");
  }
}

}  // namespace jobman::ssh
