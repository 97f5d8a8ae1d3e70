#include "controller/shell_stream.hpp"

#include <asio/post.hpp>
#include <utility>

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
    : executor_(std::move(executor)), pipe_(executor_, std::move(socket)), shell_(shell) {}

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
  if (request->confirm) self->Queue(FrameType::kAccepted);
  self->runs_ = self->reads_ = true;
  base::Spawn(self->executor_, self->scope_, ReadInput(self));
  const auto result = co_await Run(self, std::move(*request));
  self->runs_ = false;
  if (result.ok())
    self->Queue(FrameType::kEnded, std::to_string(*result));
  else
    self->Queue(FrameType::kFailed, Encode(result.error()));
  co_await AwaitEnd(self);
}

/// Sends the rest, as long as that takes: its reader may be suspended. If that ends, so does this.
/// The coroutines then end by themselves: each that is cancelled costs an exception, and a pod has
/// a thousand streams.
Task<void> ShellStream::AwaitEnd(Self self) {
  while (self->unsent() > 0) co_await self->changed_.Wait();
  self->pipe_.Break();
  while (self->reads_) co_await self->changed_.Wait();
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
    co_await AwaitRoom(self);
    auto frame = co_await self->pipe_.Next();
    const bool goes_on = frame.ok() && *frame && self->Take(std::move(**frame)).ok();
    if (!goes_on) break;
  }
  self->reads_ = false;
  self->changed_.WakeAll();
  if (self->runs_ || self->unsent() > 0) self->scope_.Cancel();
}

/// Until the command has taken some of its input, or the other side has gone.
Task<void> ShellStream::AwaitRoom(Self self) {
  using namespace asio::experimental::awaitable_operators;
  bool gone = false;
  while (!gone && self->input_size_ >= kShellWindow) {
    const auto first = co_await (self->changed_.Wait() || self->pipe_.HungUp());
    co_await base::EndIfCancelled();
    gone = first.index() == 1;
  }
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

/// Most frames go at once, which needs no coroutine.
void ShellStream::SendOutput() {
  const auto sent = pipe_.SendNow(output_);
  if (!sent.ok()) return scope_.Cancel();
  output_.erase(0, *sent);
  writes_ = !output_.empty();
  if (writes_) base::Spawn(executor_, scope_, WriteOutput(shared_from_this()));
  changed_.WakeAll();
  Wake();
}

Task<void> ShellStream::WriteOutput(Self self) {
  while (!self->output_.empty()) {
    std::string frames = std::exchange(self->output_, {});
    self->sending_ = frames.size();
    const auto sent = co_await self->pipe_.Send(std::move(frames));
    if (!sent.ok()) {
      self->scope_.Cancel();
      co_return;
    }
    self->sending_ = 0;
    self->changed_.WakeAll();
    self->Wake();
  }
  self->writes_ = false;
}

void ShellStream::SayAlive() {
  if (runs_ && unsent() == 0) Queue(FrameType::kAlive);
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
  if (std::exchange(writes_, true)) return;
  // Later: what else this turn has to say goes with it.
  asio::post(executor_, [self = shared_from_this()] { self->SendOutput(); });
}

ports::ByteSink ShellStream::SinkTo(FrameType type) {
  return [self = shared_from_this(), type](std::string_view bytes) {
    self->Queue(type, bytes);
    return base::Ok();
  };
}

}  // namespace jobman::controller
