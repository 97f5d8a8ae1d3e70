#include "ssh/exec.hpp"

#include <algorithm>

#include "ssh/channel.hpp"

namespace jobman::ssh {
namespace {

using base::Result;
using base::Status;

/// How long a command may go on without an answer.
class Patience {
 public:
  explicit Patience(const ports::RemoteCommand& command)
      : limit_(command.limit), silence_(command.silence) {}

  void Heard() { heard_ = Now(); }
  Deadline end() const { return std::min(After(began_, limit_), After(heard_, silence_)); }
  bool over() const { return Now() >= end(); }
  Error ErrorFor(const std::string& endpoint) const {
    const bool silent = After(heard_, silence_) < After(began_, limit_);
    return NoAnswer(endpoint, silent ? *silence_ : *limit_);
  }

 private:
  static Deadline Now() { return std::chrono::steady_clock::now(); }
  static Deadline After(Deadline start, std::optional<base::Duration> time) {
    return time ? start + *time : kNever;
  }

  std::optional<base::Duration> limit_;
  std::optional<base::Duration> silence_;
  Deadline began_ = Now();
  Deadline heard_ = began_;
};

/// How long an output that nobody needs any more may stay open.
class Linger {
 public:
  explicit Linger(const ports::RemoteCommand& command) : quiet_(command.linger) {}

  /// To be called in every round, with what was seen in it.
  void Note(bool ended, bool some_out) {
    const Deadline now = std::chrono::steady_clock::now();
    if (ended && ended_ == kNever) ended_ = now;
    if (some_out || ended_ == now) heard_ = now;
  }
  Deadline end() const {
    if (!quiet_ || ended_ == kNever) return kNever;
    return std::min(heard_ + *quiet_, ended_ + kMost);
  }

 private:
  static constexpr base::Duration kMost = std::chrono::minutes{1};
  std::optional<base::Duration> quiet_;
  Deadline ended_ = kNever;
  Deadline heard_ = {};
};

Task<Status> OpenChannel(std::shared_ptr<Session> session, Channel* channel, Deadline deadline) {
  while (true) {
    const int code = channel->Open();
    if (code == SSH_OK) co_return base::Ok();
    if (!session->alive()) co_return session->BrokenError();
    if (code != SSH_AGAIN)
      co_return Broken(session->endpoint(), "no channel: " + SessionError(session->raw()));
    if (std::chrono::steady_clock::now() >= deadline)
      co_return Broken(session->endpoint(), "it no longer answers");
    co_await session->Changed(deadline);
  }
}

Task<Status> StartCommand(std::shared_ptr<Session> session, Channel* channel, std::string command,
                          Patience patience) {
  while (true) {
    const int code = channel->Execute(command);
    if (code == SSH_OK) co_return base::Ok();
    if (!session->alive()) co_return session->BrokenError();
    if (code != SSH_AGAIN)
      co_return Broken(session->endpoint(), "command refused: " + SessionError(session->raw()));
    if (patience.over()) co_return patience.ErrorFor(session->endpoint());
    co_await session->Changed(patience.end());
  }
}

struct Moved {
  bool any = false;
  bool out = false;      ///< on stdout
  bool may_read = true;  ///< false: output may be waiting that nobody takes now
};

/// Moves bytes both ways without waiting.
Result<Moved> Exchange(Channel& channel, ports::RemoteCommand& command, const ports::ByteSink& out,
                       const ports::ByteSink& err) {
  bool may_read = true;
  if (command.pace) {
    JM_ASSIGN_OR_RETURN(may_read, command.pace->MayRead());
  }
  bool some_out = false;
  bool some_err = false;
  if (may_read) {
    JM_ASSIGN_OR_RETURN(some_out, channel.Drain(false, out, command.pace.get()));
    JM_ASSIGN_OR_RETURN(some_err, channel.Drain(true, err, command.pace.get()));
  }
  JM_ASSIGN_OR_RETURN(const bool fed, channel.Feed(command));
  return Moved{.any = some_out || some_err || fed, .out = some_out, .may_read = may_read};
}

/// While it exists, the command's pace wakes the session.
class Awakened {
 public:
  Awakened(std::shared_ptr<ports::Pace> pace, std::weak_ptr<Session> session)
      : pace_(std::move(pace)) {
    if (!pace_) return;
    pace_->OnWake([session = std::move(session)] {
      if (const auto alive = session.lock()) alive->Nudge();
    });
  }
  ~Awakened() {
    if (pace_) pace_->OnWake({});
  }
  Awakened(const Awakened&) = delete;
  Awakened& operator=(const Awakened&) = delete;

 private:
  std::shared_ptr<ports::Pace> pace_;
};

/// While it exists, signals for the command wake the session.
class Signalled {
 public:
  Signalled(std::shared_ptr<ports::Signals> signals, std::weak_ptr<Session> session)
      : signals_(std::move(signals)) {
    if (!signals_) return;
    key_ = signals_->Listen([session = std::move(session)] {
      if (const auto alive = session.lock()) alive->Nudge();
    });
  }
  ~Signalled() {
    if (signals_) signals_->Forget(key_);
  }
  Signalled(const Signalled&) = delete;
  Signalled& operator=(const Signalled&) = delete;

  /// Passes on what was sent since the last call.
  void PassOn(Channel& channel) {
    if (!signals_) return;
    while (passed_ < signals_->sent().size()) channel.Signal(signals_->sent()[passed_++]);
  }

 private:
  std::shared_ptr<ports::Signals> signals_;
  std::uint64_t key_ = 0;
  std::size_t passed_ = 0;
};

}  // namespace

Task<Result<int>> Exec(std::shared_ptr<Session> session, ports::RemoteCommand* command,
                       ports::ByteSink out, ports::ByteSink err, base::Duration open_timeout,
                       bool* started) {
  Channel channel(session);
  const Deadline deadline = std::chrono::steady_clock::now() + open_timeout;
  JM_CO_TRY(co_await OpenChannel(session, &channel, deadline));
  if (command->may_begin) JM_CO_TRY(co_await command->may_begin());
  if (command->pace) JM_CO_TRY(command->pace->MayRead());
  if (session->forwards_agent()) channel.RequestAgent();
  *started = true;
  Patience patience(*command);
  Linger linger(*command);
  const Awakened awakened(command->pace, session);
  Signalled signalled(command->signals, session);
  JM_CO_TRY(co_await StartCommand(session, &channel, command->command, patience));
  while (true) {
    if (!channel.exit_code()) signalled.PassOn(channel);
    const auto seen = session->packets();
    auto moved = Exchange(channel, *command, out, err);
    session->After();
    if (!moved.ok()) co_return std::move(moved).error();
    if (channel.exit_code() && channel.AtEnd()) co_return *channel.exit_code();
    linger.Note(channel.exit_code().has_value(), moved->out);
    if (std::chrono::steady_clock::now() >= linger.end()) co_return *channel.exit_code();
    if (moved->any) patience.Heard();
    if (patience.over()) co_return patience.ErrorFor(session->endpoint());
    if (moved->any) {
      co_await base::Yield();
      continue;
    }
    if (!session->alive()) co_return session->BrokenError();
    // Packets that arrived during the exchange may be for a stream that was already read.
    if (session->packets() != seen) continue;
    if (moved->may_read && channel.closed())
      co_return Broken(session->endpoint(), "closed without an exit code");
    co_await session->Changed(std::min(patience.end(), linger.end()));
  }
}

}  // namespace jobman::ssh
