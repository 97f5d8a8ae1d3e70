#include "jobman/controller/frame_pipe.hpp"

#include <sys/socket.h>

#include <array>
#include <asio/use_awaitable.hpp>
#include <cerrno>

#include "jobman/base/readiness.hpp"

namespace jobman::controller {
namespace {

using Descriptor = asio::posix::stream_descriptor;

base::Error Closed() {
  return {.code = base::Code::kUnavailable, .message = "the other end of the socket was closed"};
}

base::Task<void> Await(Descriptor* descriptor, Descriptor::wait_type what) {
  co_await descriptor->async_wait(what, asio::use_awaitable);
  co_await base::EndIfCancelled();
}

}  // namespace

FramePipe::FramePipe(const asio::any_io_executor& executor, base::UniqueFd socket)
    : descriptor_(executor, socket.get()) {
  socket.Release();
}

/// False at the end.
base::Task<base::Result<bool>> FramePipe::Receive() {
  static thread_local std::array<char, kLongestPiece> buffer;
  for (;;) {
    const auto count =
        recv(descriptor_.native_handle(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (count > 0) reader_.Add({buffer.data(), static_cast<std::size_t>(count)});
    if (count >= 0) co_return count > 0;
    if (errno == EINTR) continue;
    if (errno == ECONNRESET) co_return false;
    if (errno != EAGAIN) co_return base::FromErrno(errno, "reading from a Unix socket");
    co_await Await(&descriptor_, Descriptor::wait_read);
  }
}

base::Task<base::Result<std::optional<Frame>>> FramePipe::Next() {
  for (;;) {
    auto frame = reader_.Next();
    if (!frame.ok() || *frame) co_return frame;
    JM_CO_ASSIGN_OR_RETURN(const bool more, co_await Receive());
    if (!more) co_return std::optional<Frame>();
    co_await base::Yield();
  }
}

base::Result<std::size_t> FramePipe::SendNow(std::string_view frames) {
  for (;;) {
    const auto count = send(descriptor_.native_handle(), frames.data(), frames.size(),
                            MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count >= 0) return static_cast<std::size_t>(count);
    if (errno == EAGAIN) return std::size_t{0};
    if (errno != EINTR) return Closed();
  }
}

base::Task<base::Status> FramePipe::Send(std::string frames) {
  std::string_view left = frames;
  while (!left.empty()) {
    JM_CO_ASSIGN_OR_RETURN(const std::size_t sent, SendNow(left));
    left.remove_prefix(sent);
    if (sent == 0) co_await Await(&descriptor_, Descriptor::wait_write);
  }
  co_return base::Ok();
}

base::Task<void> FramePipe::HungUp() {
  co_await base::AwaitReady(&descriptor_, Descriptor::wait_error);
}

void FramePipe::Break() {
  shutdown(descriptor_.native_handle(), SHUT_RDWR);
}

}  // namespace jobman::controller
