#include "controller/shell_stream.hpp"

#include "jobman/base/env.hpp"
#include "jobman/base/log.hpp"
#include "jobman/controller/times.hpp"

namespace jobman::controller {
namespace {

using base::Status;
using base::Task;

/// What a piece of input takes in memory beside its bytes, of which it may have none.
constexpr std::size_t kPieceTakes = 64;

/// Whether the other side's ssh-agent and ours would make a difference on the host or on the way.
Status CheckAgent(const ShellRequest& request) {
  const bool matters = request.target.forward_agent || ports::HasProxy(request.target);
  if (!matters || request.agent == base::GetEnv("SSH_AUTH_SOCK").value_or("")) return base::Ok();
  return base::Error{.code = base::Code::kFailedPrecondition,
                     .message = "the controller has another SSH_AUTH_SOCK"};
}

}  // namespace

ShellStream::ShellStream(asio::any_io_executor executor, base::UniqueFd socket,
                         ports::HostShell* shell)
    : executor_(executor), pipe_(std::move(executor), std::move(socket)), shell_(shell) {}

void ShellStream::Start(std::function<void()> on_end) {
  base::Spawn(executor_, scope_, Serve(shared_from_this()),
              [self = shared_from_this(), on_end = std::move(on_end)](bool /*cancelled*/) {
                self->scope_.Cancel();
                on_end();
              });
}

Task<base::Result<ShellRequest>> ShellStream::Read(Self self) {
  JM_CO_ASSIGN_OR_RETURN(const auto frame, co_await self->pipe_.Next());
  if (!frame || frame->type != FrameType::kRequest)
    co_return base::InvalidArgument("no request came");
  JM_CO_ASSIGN_OR_RETURN(ShellRequest request, ParseRequest(frame->body));
  JM_CO_TRY(CheckAgent(request));
  co_return request;
}

Task<void> ShellStream::Serve(Self self) {
  auto read = Read(self);
  auto request = co_await base::WithTimeout(std::move(read), kShellRequestLimit, "a request");
  if (!request.ok()) {
    std::string refusal;
    AppendFrame(refusal, FrameType::kRefused, request.error().message);
    auto tell = self->pipe_.Send(std::move(refusal));
    const auto sent = co_await base::WithTimeout(std::move(tell), kShellRequestLimit, "a refusal");
    base::Log(base::LogLevel::kDebug, "ssh", "a command is not run for another process: {}{}",
              request.error().ToString(), sent.ok() ? "" : ", which has gone");
    co_return;
  }
  self->Queue(FrameType::kAccepted);
  base::Spawn(self->executor_, self->scope_, ReadInput(self));
  base::Spawn(self->executor_, self->scope_, WriteOutput(self));
  base::Spawn(self->executor_, self->scope_, AwaitHangup(self));
  base::Spawn(self->executor_, self->scope_, SayAlive(self));
  const auto result = co_await Run(self, std::move(*request));
  if (result.ok())
    self->Queue(FrameType::kEnded, std::to_string(*result));
  else
    self->Queue(FrameType::kFailed, Encode(result.error()));
  // As long as that takes: its reader may be suspended. If it ends, so does this.
  while (self->unsent() > 0) co_await self->changed_.Wait();
}

Task<base::Result<int>> ShellStream::Run(Self self, ShellRequest request) {
  ports::RemoteCommand command{.command = std::move(request.command),
                               .pace = self,
                               .may_begin = [self] { return AskToBegin(self); },
                               .limit = request.limit,
                               .silence = request.silence,
                               .linger = request.linger,
                               .yields = true};
  ports::ByteSink out = self->SinkTo(FrameType::kOut);
  ports::ByteSink err = self->SinkTo(FrameType::kErr);
  co_return co_await self->shell_->Run(std::move(request.target), std::move(command),
                                       std::move(out), std::move(err));
}

/// The other side decides whether the command begins, and so knows whether it may have begun.
Task<Status> ShellStream::AskToBegin(Self self) {
  self->Queue(FrameType::kConnected);
  while (!self->may_go_) co_await self->changed_.Wait();
  co_return base::Ok();
}

Task<void> ShellStream::ReadInput(Self self) {
  for (;;) {
    while (self->input_size_ >= kShellWindow) co_await self->changed_.Wait();
    auto frame = co_await self->pipe_.Next();
    const bool goes_on = frame.ok() && *frame && self->Take(std::move(**frame)).ok();
    if (!goes_on) break;
  }
  self->scope_.Cancel();
}

Status ShellStream::Take(Frame frame) {
  if (frame.type == FrameType::kGo) {
    may_go_ = true;
    changed_.WakeAll();
    return base::Ok();
  }
  if (frame.type != FrameType::kInput) return base::InvalidArgument("a frame that only we send");
  input_size_ += frame.body.size() + kPieceTakes;
  input_.push_back(std::move(frame.body));
  Wake();
  return base::Ok();
}

Task<void> ShellStream::WriteOutput(Self self) {
  for (;;) {
    while (self->output_.empty()) co_await self->changed_.Wait();
    std::string frames = std::exchange(self->output_, {});
    self->sending_ = frames.size();
    const auto sent = co_await self->pipe_.Send(std::move(frames));
    if (!sent.ok()) break;
    self->sending_ = 0;
    self->changed_.WakeAll();
    self->Wake();
  }
  self->scope_.Cancel();
}

/// Reading stops while the command does not take its input, so the end is watched for apart.
Task<void> ShellStream::AwaitHangup(Self self) {
  co_await self->pipe_.HungUp();
  self->scope_.Cancel();
}

Task<void> ShellStream::SayAlive(Self self) {
  for (;;) {
    co_await base::Sleep(kShellAlive);
    if (self->unsent() == 0) self->Queue(FrameType::kAlive);
  }
}

base::Result<std::optional<std::string>> ShellStream::NextInput() {
  if (input_.empty()) return std::optional<std::string>();
  std::string piece = std::move(input_.front());
  input_.pop_front();
  input_size_ -= piece.size() + kPieceTakes;
  changed_.WakeAll();
  return std::optional<std::string>(std::move(piece));
}

base::Result<bool> ShellStream::MayRead() {
  return unsent() < kShellWindow;
}

void ShellStream::Queue(FrameType type, std::string_view body) {
  const bool piece = type == FrameType::kOut || type == FrameType::kErr;
  if (piece)
    AppendPieces(output_, type, body);
  else
    AppendFrame(output_, type, body);
  changed_.WakeAll();
}

ports::ByteSink ShellStream::SinkTo(FrameType type) {
  return [self = shared_from_this(), type](std::string_view bytes) {
    self->Queue(type, bytes);
    return base::Ok();
  };
}

}  // namespace jobman::controller
