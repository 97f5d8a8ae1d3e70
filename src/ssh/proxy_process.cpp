#include "ssh/proxy_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <asio/buffer.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>
#include <cerrno>
#include <iterator>
#include <utility>
#include <vector>

#include "jobman/base/process.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/base/waiters.hpp"

namespace jobman::ssh {
namespace {

using base::Result;
using base::UniqueFd;

constexpr std::size_t kTail = 2048;  ///< bytes kept of standard error
constexpr std::size_t kLongestWords = 300;
constexpr int kLastLines = 2;  // ssh says in the last but one what went wrong
constexpr base::Duration kFarewell{500};
constexpr base::Duration kExitPoll{10};

struct Ends {
  UniqueFd ours = {};
  UniqueFd theirs = {};
};

/// None of the two is a standard descriptor; ours does not block.
Result<Ends> KeepUp(const std::array<int, 2>& fds) {
  Ends ends{.ours = base::MoveUp(UniqueFd(fds[0])), .theirs = base::MoveUp(UniqueFd(fds[1]))};
  if (!ends.ours || !ends.theirs)
    return base::FromErrno(errno, "making the connection of a proxy command");
  ::fcntl(ends.ours.get(), F_SETFL, O_NONBLOCK);
  return ends;
}

Result<Ends> MakeSocket() {
  std::array<int, 2> fds = {};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds.data()) != 0)
    return base::FromErrno(errno, "making the connection of a proxy command");
  return KeepUp(fds);
}

Result<Ends> MakeErrorPipe() {
  std::array<int, 2> fds = {};
  if (::pipe2(fds.data(), O_CLOEXEC) != 0)
    return base::FromErrno(errno, "making the connection of a proxy command");
  return KeepUp(fds);
}

/// What OpenSSH's client says of a proxy of its own that has hung up: two lines, of which the
/// second names no address. Source: OpenSSH 9, seen with a ProxyCommand that ends.
constexpr std::string_view kProxyEnded = "UNKNOWN port 65535";
constexpr std::string_view kNoGreeting = "kex_exchange_identification:";

/// Adds a line, but of a hop that only misses the one before it the words of that one stay the
/// last.
void AddLine(std::vector<std::string>& lines, std::string_view line) {
  const bool is_echo = base::Contains(line, kProxyEnded);
  if (is_echo && std::ssize(lines) > 1 && lines.back().starts_with(kNoGreeting)) lines.pop_back();
  if (!is_echo || lines.empty()) lines.emplace_back(line);
}

/// The last lines that are not empty.
std::string LastLines(const std::string& text) {
  std::vector<std::string> lines;
  for (const std::string& line : base::Split(text, '\n')) {
    if (const auto words = base::Trim(line); !words.empty()) AddLine(lines, words);
  }
  if (std::ssize(lines) > kLastLines) lines.erase(lines.begin(), lines.end() - kLastLines);
  return base::Shorten(base::Join(lines, "; "), kLongestWords);
}

}  // namespace

struct ProxyProcess::Tail {
  Tail(const asio::any_io_executor& executor, UniqueFd fd) : pipe(executor, fd.Release()) {}
  void Add(std::string_view bytes) {
    text += bytes;
    if (text.size() > kTail) text.erase(0, text.size() - kTail);
  }
  asio::posix::stream_descriptor pipe;
  std::string text = {};
  bool over = false;
  base::Waiters end = {};
};

ProxyProcess::ProxyProcess(pid_t pid, UniqueFd socket, std::shared_ptr<Tail> tail)
    : pid_(pid), socket_(std::move(socket)), tail_(std::move(tail)) {}

ProxyProcess::~ProxyProcess() {
  scope_.Cancel();
  base::KillGroup(pid_);
}

Result<std::shared_ptr<ProxyProcess>> ProxyProcess::Start(asio::any_io_executor executor,
                                                          const std::string& command) {
  JM_ASSIGN_OR_RETURN(Ends ends, MakeSocket());
  JM_ASSIGN_OR_RETURN(Ends errors, MakeErrorPipe());
  const base::Stdio stdio{
      .in = ends.theirs.get(), .out = ends.theirs.get(), .err = errors.theirs.get()};
  // A session of its own: on our terminal it could ask, and would be stopped by that.
  JM_ASSIGN_OR_RETURN(const pid_t pid, base::StartProcess({"/bin/sh", "-c", "exec " + command},
                                                          stdio, base::ProcessGroup::kOwnSession));
  auto tail = std::make_shared<Tail>(executor, std::move(errors.ours));
  const std::shared_ptr<ProxyProcess> process(
      new ProxyProcess(pid, std::move(ends.ours), std::move(tail)));
  base::Spawn(executor, process->scope_, Collect(process->tail_));
  return process;
}

base::Task<void> ProxyProcess::Collect(std::shared_ptr<Tail> tail) {
  std::array<char, 1024> block = {};
  while (true) {
    std::error_code failed;
    const auto room = asio::buffer(block);
    const std::size_t count = co_await tail->pipe.async_read_some(
        room, asio::redirect_error(asio::use_awaitable, failed));
    co_await base::EndIfCancelled();
    if (failed) break;
    tail->Add(std::string_view(block.data(), count));
  }
  tail->over = true;
  tail->end.WakeAll();
}

std::string ProxyProcess::EndText() const {
  siginfo_t info = {};
  // Not reaped: until KillGroup() the group keeps its number.
  const int failed = ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT);
  if (failed != 0 || info.si_pid == 0) return "";
  if (info.si_code == CLD_EXITED) return fmt::format("exit code {}", info.si_status);
  return fmt::format("signal {}", info.si_status);
}

base::Task<std::string> ProxyProcess::LastWords() {
  const base::Deadline deadline = std::chrono::steady_clock::now() + kFarewell;
  while (!tail_->over && std::chrono::steady_clock::now() < deadline) {
    co_await tail_->end.Wait(deadline);
  }
  // Its files are closed a moment before it has ended.
  while (EndText().empty() && std::chrono::steady_clock::now() < deadline) {
    co_await base::Sleep(kExitPoll);
  }
  const std::string end = EndText();
  const std::string words = LastLines(tail_->text);
  const std::string known = end.empty() ? "it still runs" : end;
  co_return words.empty() ? known : known + ": " + words;
}

}  // namespace jobman::ssh
