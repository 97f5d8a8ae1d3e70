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

/// Moves bytes both ways without waiting; returns whether any moved.
Result<bool> Exchange(Channel& channel, const std::string& input, const ports::ByteSink& out,
                      const ports::ByteSink& err) {
  JM_ASSIGN_OR_RETURN(const bool some_out, channel.Drain(false, out));
  JM_ASSIGN_OR_RETURN(const bool some_err, channel.Drain(true, err));
  const bool fed = channel.Feed(input);
  return some_out || some_err || fed;
}

}  // namespace

Task<Result<int>> Exec(std::shared_ptr<Session> session, ports::RemoteCommand command,
                       ports::ByteSink out, ports::ByteSink err, base::Duration open_timeout,
                       bool* started) {
  Channel channel(session);
  const Deadline deadline = std::chrono::steady_clock::now() + open_timeout;
  JM_CO_TRY(co_await OpenChannel(session, &channel, deadline));
  if (command.may_begin) JM_CO_TRY(co_await command.may_begin());
  *started = true;
  Patience patience(command);
  JM_CO_TRY(co_await StartCommand(session, &channel, command.command, patience));
  while (true) {
    const auto seen = session->packets();
    auto moved = Exchange(channel, command.input, out, err);
    session->After();
    if (!moved.ok()) co_return std::move(moved).error();
    if (channel.exit_code() && channel.AtEnd()) co_return *channel.exit_code();
    if (*moved) patience.Heard();
    if (patience.over()) co_return patience.ErrorFor(session->endpoint());
    if (*moved) {
      co_await base::Yield();
      continue;
    }
    if (!session->alive()) co_return session->BrokenError();
    // Packets that arrived during the exchange may be for a stream that was already read.
    if (session->packets() != seen) continue;
    if (channel.closed()) co_return Broken(session->endpoint(), "closed without an exit code");
    co_await session->Changed(patience.end());
  }
}

}  // namespace jobman::ssh
