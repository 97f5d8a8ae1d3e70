#include "sim/hosts/fault_front.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "jobman/base/handle.hpp"
#include "jobman/base/process.hpp"
#include "jobman/base/strings.hpp"

namespace jobman::sim {

namespace {

constexpr std::size_t kFrontBlock = std::size_t{64} << 10;
constexpr std::size_t kLongestLogLine = std::size_t{64} << 10;

}  // namespace

void ResetOnClose(int socket) {
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  setsockopt(socket, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

FaultFront::FaultFront(HostFault fault, int client, int server, int log, int copy)
    : fault_(fault), log_(log), copy_(copy) {
  up_.from = down_.to = client;
  up_.to = down_.from = server;
}

FaultFront::End FaultFront::Run() {
  while (!down_.over) {
    Await();
    // First, so that what it says is known before what came later.
    ReadLog();
    if (fault_.kind == HostFaultKind::kResetMiddle && began_) return End::kReset;
    for (Way* way : {&up_, &down_}) {
      Read(*way);
      Send(*way);
      Finish(*way);
    }
  }
  return End::kClosed;
}

void FaultFront::Await() {
  std::array<pollfd, 5> polled = {};
  polled.fill({.fd = -1, .events = 0, .revents = 0});
  polled[0] = {.fd = log_, .events = POLLIN, .revents = 0};
  const Clock::time_point now = Clock::now();
  std::optional<Clock::time_point> due;
  std::size_t next = 1;
  for (const Way* way : {&up_, &down_}) {
    if (!way->ended && way->size < kMostHeld)
      polled[next] = {.fd = way->from, .events = POLLIN, .revents = 0};
    if (!way->held.empty() && way->held.front().due <= now)
      polled[next + 1] = {.fd = way->to, .events = POLLOUT, .revents = 0};
    else if (!way->held.empty())
      due = due ? std::min(*due, way->held.front().due) : way->held.front().due;
    next += 2;
  }
  const int wait =
      due ? static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(*due - now).count()) : -1;
  poll(polled.data(), polled.size(), wait);
}

void FaultFront::ReadLog() {
  std::array<char, 4096> block = {};
  pollfd ready{.fd = log_, .events = POLLIN, .revents = 0};
  while (log_ >= 0 && poll(&ready, 1, 0) == 1) {
    const ssize_t n = read(log_, block.data(), block.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      log_ = -1;
      break;
    }
    if (copy_ >= 0 && write(copy_, block.data(), static_cast<std::size_t>(n)) < 0) copy_ = -1;
    unread_log_.append(block.data(), static_cast<std::size_t>(n));
    // sshd's own words; "Accepted key" is another line, before the signature is checked.
    accepted_ = accepted_ || base::Contains(unread_log_, "Accepted publickey for ");
    began_ = began_ || base::Contains(unread_log_, "Starting session: ");
    const std::size_t line = unread_log_.rfind('\n');
    if (line != std::string::npos) unread_log_.erase(0, line + 1);
    if (unread_log_.size() > kLongestLogLine) unread_log_.clear();
  }
}

void FaultFront::Read(Way& way) {
  if (way.ended || way.size >= kMostHeld) return;
  std::string bytes(kFrontBlock, '\0');
  const ssize_t n = recv(way.from, bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (n <= 0) {
    way.ended = true;
    return;
  }
  // sshd logs the login before it answers anything after it: what the client asks next is either
  // dropped here, or was so early that its answer comes, and then the next one is dropped.
  if (fault_.kind == HostFaultKind::kHangAfterAuth && accepted_ && &way == &up_) return;
  bytes.resize(static_cast<std::size_t>(n));
  way.size += bytes.size();
  const bool late = fault_.kind == HostFaultKind::kSlow;
  way.held.push_back(
      {.due = Clock::now() + (late ? fault_.late : Duration{0}), .bytes = std::move(bytes)});
}

void FaultFront::Send(Way& way) {
  const Clock::time_point now = Clock::now();
  while (!way.held.empty() && way.held.front().due <= now) {
    std::string& bytes = way.held.front().bytes;
    const ssize_t n = send(way.to, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n < 0) {  // nobody is there any more
      way.held.clear();
      way.size = 0;
      way.ended = true;
      return;
    }
    way.size -= static_cast<std::size_t>(n);
    bytes.erase(0, static_cast<std::size_t>(n));
    if (bytes.empty()) way.held.pop_front();
  }
}

void FaultFront::Finish(Way& way) {
  if (!way.ended || !way.held.empty() || way.over) return;
  way.over = true;
  shutdown(way.to, SHUT_WR);
}

int RunFaultFront(const HostFault& fault, const base::Path& log, std::vector<std::string> sshd) {
  std::array<int, 2> ends = {-1, -1};
  std::array<int, 2> log_ends = {-1, -1};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return 1;
  base::UniqueFd ours(ends[0]);
  base::UniqueFd theirs(ends[1]);
  if (pipe2(log_ends.data(), O_CLOEXEC) != 0) return 1;
  const base::UniqueFd read_log(log_ends[0]);
  base::UniqueFd write_log(log_ends[1]);
  const base::UniqueFd copy(open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  const auto server = base::StartProcess(
      std::move(sshd), {.in = theirs.get(), .out = theirs.get(), .err = write_log.get()});
  if (!server.ok()) return 1;
  theirs.Reset();
  write_log.Reset();
  FaultFront front(fault, STDIN_FILENO, ours.get(), read_log.get(), copy.get());
  if (front.Run() == FaultFront::End::kReset) ResetOnClose(STDIN_FILENO);
  close(STDIN_FILENO);
  close(STDOUT_FILENO);  // the same connection
  ours.Reset();
  waitpid(*server, nullptr, 0);
  return 0;
}

}  // namespace jobman::sim
