#include "jobman/controller/shell_server.hpp"

#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/use_awaitable.hpp>
#include <cerrno>
#include <limits>
#include <utility>

#include "controller/shell_stream.hpp"
#include "jobman/base/log.hpp"
#include "jobman/controller/local_socket.hpp"
#include "jobman/controller/times.hpp"

namespace jobman::controller {
namespace {

/// Then others on the loop get their turn.
constexpr int kAcceptedPerTurn = 64;
constexpr std::int64_t kMostStreams = 4096;
/// Each takes one, and a session on its host up to three of the others.
constexpr std::int64_t kShareOfFiles = 8;

std::size_t MostStreamsNow() {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  const rlim_t most = std::numeric_limits<std::int64_t>::max();
  const auto files = static_cast<std::int64_t>(std::min(most, limit.rlim_cur));
  return static_cast<std::size_t>(ShellServer::MostStreams(files));
}

}  // namespace

std::int64_t ShellServer::MostStreams(std::int64_t file_limit) {
  return std::min(kMostStreams, file_limit / kShareOfFiles);
}

struct ShellServer::Streams {
  std::map<std::int64_t, std::shared_ptr<ShellStream>> open = {};
  std::int64_t last = 0;
  bool says_alive = false;  ///< SayAlive() runs
};

ShellServer::ShellServer(asio::any_io_executor executor, ports::HostShell* shell, base::Path socket)
    : executor_(std::move(executor)),
      shell_(shell),
      socket_(std::move(socket)),
      streams_(std::make_shared<Streams>()) {}

ShellServer::~ShellServer() {
  Close();
}

bool ShellServer::Busy() const {
  return !streams_->open.empty();
}

void ShellServer::Close() {
  // A copy: ending one may change the map.
  const auto open = streams_->open;
  for (const auto& [number, stream] : open) stream->End();
  alive_ = base::CancelScope();
  streams_->says_alive = false;
}

void ShellServer::Admit(base::UniqueFd socket) {
  const auto peer = PeerOfSameUser(socket.get());
  if (!peer.ok()) {
    base::Log(base::LogLevel::kWarn, "ssh", "nothing is run for another process: {}",
              peer.error().ToString());
    return;
  }
  if (streams_->open.size() >= MostStreamsNow()) return;  // it uses connections of its own
  const auto number = ++streams_->last;
  const auto stream = std::make_shared<ShellStream>(executor_, std::move(socket), shell_);
  streams_->open[number] = stream;
  stream->Start([weak = std::weak_ptr(streams_), number] {
    if (const auto streams = weak.lock()) streams->open.erase(number);
  });
  if (!std::exchange(streams_->says_alive, true))
    base::Spawn(executor_, alive_, SayAlive(streams_));
}

/// For all of them, as long as there is one: a timer for each would be a thousand.
base::Task<void> ShellServer::SayAlive(std::weak_ptr<Streams> streams) {
  for (;;) {
    co_await base::Sleep(kShellAlive);
    const auto all = streams.lock();
    if (all == nullptr) co_return;
    all->says_alive = !all->open.empty();
    if (!all->says_alive) co_return;
    const auto open = all->open;  // a copy: it may end one that does not listen
    for (const auto& [number, stream] : open) stream->SayAlive();
  }
}

base::Task<base::Status> ShellServer::Listen() {
  JM_CO_ASSIGN_OR_RETURN(auto fd, ListenAt(socket_));
  asio::posix::stream_descriptor listener(executor_, fd.Release());
  for (;;) {
    co_await listener.async_wait(asio::posix::stream_descriptor::wait_read, asio::use_awaitable);
    co_await base::EndIfCancelled();
    int error = 0;
    for (int count = 0; count < kAcceptedPerTurn && error == 0; ++count) {
      base::UniqueFd socket(
          accept4(listener.native_handle(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      error = socket ? 0 : errno;
      if (socket) Admit(std::move(socket));
    }
    // No descriptor is free: one that waits would be reported again and again.
    const bool no_room = error == EMFILE || error == ENFILE || error == ENOMEM;
    if (no_room) co_await base::Sleep(kAcceptAgain);
  }
}

}  // namespace jobman::controller
