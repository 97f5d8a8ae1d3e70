#include "client/tar_process.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <asio/buffer.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>
#include <cerrno>

#include "client/copy_parts.hpp"
#include "jobman/base/process.hpp"

namespace jobman::client {
namespace {

using base::Result;
using base::Task;

constexpr base::Duration kTarPoll = std::chrono::milliseconds{5};

}  // namespace

struct TarProcess::Talk {
  Talk(asio::any_io_executor executor, int fd) : from(executor, fd) {}
  asio::posix::stream_descriptor from;
  std::string text = {};
  bool ended = false;
};

namespace {

Task<void> Listen(std::shared_ptr<TarProcess::Talk> talk) {
  std::array<char, 4096> block = {};
  std::error_code failed;
  while (!failed) {
    const std::size_t count = co_await talk->from.async_read_some(
        asio::buffer(block), asio::redirect_error(asio::use_awaitable, failed));
    KeepEnds(talk->text, {block.data(), count});
  }
  talk->ended = true;
}

}  // namespace

Result<std::unique_ptr<TarProcess>> TarProcess::Start(asio::any_io_executor executor,
                                                      std::vector<std::string> words, int in,
                                                      int out) {
  std::array<int, 2> ends = {};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return base::FromErrno(errno, "making a pipe");
  base::UniqueFd read(ends[0]);
  const base::UniqueFd write(ends[1]);
  words.insert(words.begin(), {"env", "-u", "TAR_OPTIONS", "LC_ALL=C", "tar"});
  JM_ASSIGN_OR_RETURN(
      const pid_t pid,
      base::StartProcess(std::move(words), {.in = in, .out = out, .err = write.get()},
                         base::ProcessGroup::kOwn));
  const auto talk = std::make_shared<Talk>(executor, read.Release());
  std::unique_ptr<TarProcess> tar(new TarProcess(pid, talk));
  base::Spawn(executor, tar->scope_, Listen(talk));
  return tar;
}

TarProcess::~TarProcess() {
  if (pid_ != 0) base::KillGroup(pid_);
}

Task<int> TarProcess::End() {
  int status = 0;
  while (pid_ != 0) {
    const pid_t ended = ::waitpid(pid_, &status, WNOHANG);
    if (ended == 0) {
      co_await base::Sleep(kTarPoll);
      continue;
    }
    pid_ = 0;
    exit_code_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }
  while (!talk_->ended) co_await base::Sleep(kTarPoll);
  co_return exit_code_;
}

const std::string& TarProcess::said() const {
  return talk_->text;
}

}  // namespace jobman::client
