#include "client/shared_call.hpp"

#include <asio/steady_timer.hpp>

#include "jobman/base/env.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/controller/shell_messages.hpp"

namespace jobman::client {
namespace {

using base::Result;
using base::Status;
using base::Task;
using controller::Frame;
using controller::FrameType;

/// Looks without a sign of life until the controller counts as hanging.
constexpr int kMostSilentLooks = 4;
constexpr std::size_t kLongestRefusal = 200;

base::Error NotAController() {
  return {.code = base::Code::kUnavailable, .message = "the controller does not answer as one"};
}

/// The next piece of what a command is to read: all of RemoteCommand::input first. Empty at the
/// end; nothing if it has not arrived yet.
Result<std::optional<std::string>> NextPiece(ports::RemoteCommand& command) {
  if (!command.input.empty()) return std::optional(std::exchange(command.input, {}));
  if (command.pace) return command.pace->NextInput();
  if (!command.next_input) return std::optional<std::string>(std::string());
  JM_ASSIGN_OR_RETURN(std::string piece, command.next_input());
  return std::optional<std::string>(std::move(piece));
}

}  // namespace

/// Shared with the coroutines beside the call's own.
struct SharedCall::State {
  State(asio::any_io_executor loop, base::UniqueFd socket, ports::SharedTarget where,
        ports::RemoteCommand what)
      : executor(std::move(loop)),
        looks(executor),
        pipe(executor, std::move(socket)),
        target(std::move(where)),
        command(std::move(what)) {}

  /// Ends the call with an error of ours, whatever it waits for.
  void Fail(base::Error error) {
    if (!failed) failed = std::move(error);
    changed.WakeAll();
    pipe.Break();
  }
  /// Without the host, so that those of many hosts are one.
  static base::Error Lost(const std::string& what, const std::string& hint) {
    base::Error error{.code = base::Code::kUnavailable,
                      .message = "the connection broke: the controller that keeps it open " + what,
                      .reason = base::Reason::kConnectionBroke,
                      .hint = hint};
    return std::move(error).With("while the command ran");
  }
  static base::Error Broke() {
    return Lost("has ended", "it may go on there; the controller's log may say why it ended");
  }
  /// Without a whole kGo nothing begins there, so it may be tried again.
  static base::Error EndedBefore() {
    return {.code = base::Code::kUnavailable,
            .message =
                "the controller that keeps the connection open has ended before the command "
                "began, which did not run",
            .reason = base::Reason::kHostTimeout,
            .hint = "repeat it; the controller's log may say why it ended"};
  }
  static base::Error Hangs() {
    return Lost("does not answer", "it may go on there; jobman controller status shows which");
  }

  /// Waits until the pace lets output be read.
  Task<Status> AwaitReader();
  Task<Result<Frame>> Next();

  asio::any_io_executor executor;
  asio::steady_timer looks;  ///< whether there was a sign of life
  controller::FramePipe pipe;
  ports::SharedTarget target;
  ports::RemoteCommand command;
  base::Waiters changed = {};
  std::optional<base::Error> failed = {};
  std::int64_t frames = 0;  ///< that have arrived
  bool listens = false;     ///< it waits for a frame
  bool paced = false;       ///< the pace wakes this call
};

Task<Status> SharedCall::State::AwaitReader() {
  while (command.pace) {
    JM_CO_ASSIGN_OR_RETURN(const bool may_read, command.pace->MayRead());
    if (may_read) break;
    co_await changed.Wait();
    if (failed) co_return *failed;
  }
  co_return base::Ok();
}

Task<Result<Frame>> SharedCall::State::Next() {
  listens = true;
  auto frame = co_await pipe.Next();
  listens = false;
  ++frames;
  if (failed) co_return *failed;
  if (!frame.ok() || !*frame) co_return Broke();
  co_return std::move(**frame);
}

SharedCall::SharedCall(asio::any_io_executor executor, base::UniqueFd socket,
                       ports::SharedTarget target, ports::RemoteCommand what)
    : state_(std::make_shared<State>(std::move(executor), std::move(socket), std::move(target),
                                     std::move(what))) {}

/// At once: what else keeps the state ends with the next turn of the loop.
SharedCall::~SharedCall() {
  state_->looks.cancel();
  if (state_->paced) state_->command.pace->OnWake({});
  state_->pipe.Break();
}

Task<Status> SharedCall::Ask(bool confirm) {
  const ports::RemoteCommand& command = state_->command;
  const controller::ShellRequest wanted{.target = state_->target,
                                        .command = command.command,
                                        .limit = command.limit,
                                        .silence = command.silence,
                                        .linger = command.linger,
                                        .agent = base::GetEnv("SSH_AUTH_SOCK").value_or(""),
                                        .confirm = confirm};
  const std::string body = controller::Encode(wanted);
  if (body.size() > controller::kLongestBody)
    co_return base::InvalidArgument("the command is too long for the controller's socket");
  std::string request;
  controller::AppendFrame(request, FrameType::kRequest, body);
  JM_CO_TRY(co_await state_->pipe.Send(std::move(request)));
  if (!confirm) co_return base::Ok();
  JM_CO_ASSIGN_OR_RETURN(const auto answer, co_await state_->pipe.Next());
  if (!answer) co_return NotAController();
  if (answer->type == FrameType::kAccepted) co_return base::Ok();
  if (answer->type != FrameType::kRefused) co_return NotAController();
  base::Error refused{.code = base::Code::kFailedPrecondition,
                      .message = base::Shorten(answer->body, kLongestRefusal)};
  co_return refused;
}

/// A suspended process finds all deadlines passed when it goes on, so looks are counted. No
/// coroutine: one for each host would end with an exception.
void SharedCall::LookForLife(const std::shared_ptr<State>& state, base::Duration look, int silent) {
  if (silent == kMostSilentLooks) return state->Fail(State::Hangs());
  state->looks.expires_after(look);
  const auto passed = [weak = std::weak_ptr(state), look, silent,
                       seen = state->frames](const std::error_code& cancelled) {
    const auto alive = weak.lock();
    if (cancelled || alive == nullptr) return;
    const bool moved = !alive->listens || alive->frames != seen;
    LookForLife(alive, look, moved ? 0 : silent + 1);
  };
  state->looks.async_wait(passed);
}

Task<std::optional<Status>> SharedCall::AwaitLogin(base::Duration look) {
  LookForLife(state_, look);
  for (;;) {
    const auto frame = co_await state_->Next();
    if (!frame.ok()) co_return std::nullopt;
    if (frame->type == FrameType::kAlive) continue;
    if (frame->type == FrameType::kConnected) co_return base::Ok();
    if (frame->type == FrameType::kRefused) {
      base::Error refused{.code = base::Code::kAborted,
                          .message = base::Shorten(frame->body, kLongestRefusal)};
      co_return refused;
    }
    if (frame->type != FrameType::kFailed) co_return std::nullopt;
    Status failed = controller::ParseError(frame->body);
    co_return failed;
  }
}

Task<void> SharedCall::SendInput(std::shared_ptr<State> state) {
  bool ended = false;
  while (!ended) {
    auto piece = NextPiece(state->command);
    if (!piece.ok()) {
      state->Fail(std::move(piece).error());
      co_return;
    }
    if (!*piece) {
      co_await state->changed.Wait();
      continue;
    }
    ended = (*piece)->empty();
    std::string frames;
    if (ended)
      controller::AppendFrame(frames, FrameType::kInput, {});
    else
      controller::AppendPieces(frames, FrameType::kInput, **piece);
    const auto sent = co_await state->pipe.Send(std::move(frames));
    if (!sent.ok()) co_return;  // the reader finds out why
  }
}

Task<Result<int>> SharedCall::Finish(ports::ByteSink out, ports::ByteSink err) {
  State& state = *state_;
  if (state.command.may_begin) {
    JM_CO_TRY(co_await state.command.may_begin());
  }
  if (state.command.pace) {
    JM_CO_TRY(state.command.pace->MayRead());
    state.paced = true;
    state.command.pace->OnWake([weak = std::weak_ptr(state_)] {
      if (const auto alive = weak.lock()) alive->changed.WakeAll();
    });
  }
  std::string go;
  controller::AppendFrame(go, FrameType::kGo, {});
  // If there is no input, its end is sent along. Any other input is taken later: if the controller
  // has gone, the next try needs all of it.
  const bool none = state.command.input.empty() && !state.command.pace && !state.command.next_input;
  if (none) controller::AppendFrame(go, FrameType::kInput, {});
  const auto sent = co_await state.pipe.Send(std::move(go));
  if (!sent.ok()) co_return State::EndedBefore();
  if (!none) base::Spawn(state.executor, scope_, SendInput(state_));
  for (;;) {
    JM_CO_TRY(co_await state.AwaitReader());
    JM_CO_ASSIGN_OR_RETURN(const Frame frame, co_await state.Next());
    if (frame.type == FrameType::kFailed) co_return controller::ParseError(frame.body);
    if (frame.type == FrameType::kEnded)
      co_return static_cast<int>(base::ParseNumber(frame.body.substr(0, 9)).value_or(255));
    const bool is_out = frame.type == FrameType::kOut;
    const ports::ByteSink& sink = is_out ? out : err;
    if (is_out || frame.type == FrameType::kErr) {
      if (sink) {
        JM_CO_TRY(sink(frame.body));
      }
    } else if (frame.type != FrameType::kAlive) {
      co_return State::Broke();
    }
  }
}

}  // namespace jobman::client
