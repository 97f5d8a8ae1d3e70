#include "ssh/exec.hpp"

#include <chrono>
#include <cstdint>
#include <utility>

#include "ssh/channel.hpp"
#include "ssh/command_times.hpp"

namespace jobman::ssh {
namespace {

using base::Result;
using base::Status;

Deadline Now() {
  return std::chrono::steady_clock::now();
}

Task<Status> OpenChannel(std::shared_ptr<Session> session, Channel* channel, Deadline deadline) {
  while (true) {
    const int code = channel->Open();
    if (code == SSH_OK) co_return base::Ok();
    if (!session->alive()) co_return session->BrokenError();
    if (code != SSH_AGAIN)
      co_return Broken(session->endpoint(), "no channel: " + SessionError(session->raw()));
    if (Now() >= deadline) co_return Broken(session->endpoint(), "it no longer answers");
    co_await session->Changed(deadline);
  }
}

Task<Status> StartCommand(std::shared_ptr<Session> session, Channel* channel, std::string command,
                          CommandTimes* times) {
  while (true) {
    const Deadline woken = Now();
    const int code = channel->Execute(command);
    if (code == SSH_OK) co_return base::Ok();
    if (!session->alive()) co_return session->BrokenError();
    if (code != SSH_AGAIN)
      co_return Broken(session->endpoint(), "command refused: " + SessionError(session->raw()));
    const Deadline now = Now();
    times->Note({.woken = woken, .now = now});
    if (const auto passed = times->Passed(now)) co_return NoAnswer(session->endpoint(), *passed);
    co_await session->Changed(times->Await());
  }
}

struct Moved {
  bool any = false;
  bool read = false;     ///< some output: there may be more
  bool out = false;      ///< on stdout
  bool may_read = true;  ///< false: output may be waiting that nobody takes now
};

/// Moves bytes both ways without waiting. `unread`: whether there can be output. Asking libssh for
/// output that has not arrived costs two system calls.
Result<Moved> Exchange(Channel& channel, ports::RemoteCommand& command, const ports::ByteSink& out,
                       const ports::ByteSink& err, bool unread) {
  bool may_read = true;
  if (command.pace) {
    JM_ASSIGN_OR_RETURN(may_read, command.pace->MayRead());
  }
  bool some_out = false;
  bool some_err = false;
  if (may_read && unread) {
    JM_ASSIGN_OR_RETURN(some_out, channel.Drain(false, out, command.pace.get()));
    JM_ASSIGN_OR_RETURN(some_err, channel.Drain(true, err, command.pace.get()));
  }
  JM_ASSIGN_OR_RETURN(const bool fed, channel.Feed(command));
  const bool read = some_out || some_err;
  return Moved{.any = read || fed, .read = read, .out = some_out, .may_read = may_read};
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

/// Until the host has the command; its time counts from when it is sent. Apart from Exec(), as a
/// thousand commands that run need no room for it, nor for their text.
Task<Result<CommandTimes>> BeginCommand(std::shared_ptr<Session> session, Channel* channel,
                                        ports::RemoteCommand* command, Deadline deadline,
                                        bool* started) {
  JM_CO_TRY(co_await OpenChannel(session, channel, deadline));
  if (command->may_begin) JM_CO_TRY(co_await command->may_begin());
  if (command->pace) JM_CO_TRY(command->pace->MayRead());
  if (session->forwards_agent()) channel->RequestAgent();
  *started = true;
  command->may_begin = {};  // of no use any more, and it holds a target
  CommandTimes times(*command, Now());
  std::string text = std::exchange(command->command, {});
  JM_CO_TRY(co_await StartCommand(session, channel, std::move(text), &times));
  co_return times;
}

}  // namespace

Task<Result<int>> Exec(std::shared_ptr<Session> session, ports::RemoteCommand* command,
                       const ports::ByteSink* out, const ports::ByteSink* err,
                       base::Duration open_timeout, bool* started) {
  Channel channel(session);
  const Awakened awakened(command->pace, session);
  Signalled signalled(command->signals, session);
  const Deadline deadline = Now() + open_timeout;
  JM_CO_ASSIGN_OR_RETURN(CommandTimes times,
                         co_await BeginCommand(session, &channel, command, deadline, started));
  bool left = true;  // output that has arrived and was not read
  std::uint64_t seen = 0;
  while (true) {
    if (!channel.exit_code()) signalled.PassOn(channel);
    const Deadline woken = Now();
    const bool unread = left || session->packets() != seen;
    seen = session->packets();
    auto moved = Exchange(channel, *command, *out, *err, unread);
    session->After();
    if (!moved.ok()) co_return std::move(moved).error();
    left = moved->read || !moved->may_read;
    if (channel.exit_code() && channel.AtEnd()) co_return *channel.exit_code();
    const Deadline now = Now();
    times.Note({.woken = woken,
                .now = now,
                .any = moved->any,
                .out = moved->out,
                .held = !moved->may_read,
                .exited = channel.exit_code().has_value()});
    if (times.Lingered(now)) co_return *channel.exit_code();
    if (const auto passed = times.Passed(now)) co_return NoAnswer(session->endpoint(), *passed);
    if (moved->any) {
      co_await base::Yield();
      continue;
    }
    if (!session->alive()) co_return session->BrokenError();
    // Packets that arrived during the exchange may be for a stream that was already read.
    if (session->packets() != seen) continue;
    if (moved->may_read && channel.closed())
      co_return Broken(session->endpoint(), "closed without an exit code");
    co_await session->Changed(times.Await());
  }
}

}  // namespace jobman::ssh
