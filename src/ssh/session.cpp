#include "ssh/session.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <asio/post.hpp>
#include <cerrno>
#include <utility>

namespace jobman::ssh {
namespace {

bool IsSameFile(int one, int other) {
  struct stat a = {}, b = {};
  return fstat(one, &a) == 0 && fstat(other, &b) == 0 && a.st_dev == b.st_dev &&
         a.st_ino == b.st_ino;
}

ssh_channel AnswerAgentRequest(ssh_session, void* open) noexcept {
  return (*static_cast<std::function<ssh_channel()>*>(open))();
}

}  // namespace

Session::Session(asio::any_io_executor executor, std::string endpoint, base::UniqueFd socket,
                 Counted counted)
    : counted_(std::move(counted)),
      endpoint_(std::move(endpoint)),
      socket_(std::move(socket)),
      session_(ssh_new()),
      descriptor_(executor) {
  JM_CHECK(session_ != nullptr, "libssh has no memory");
  base::UniqueFd watched(fcntl(socket_.get(), F_DUPFD_CLOEXEC, 3));
  std::error_code failed(watched ? 0 : errno, std::generic_category());
  if (watched) descriptor_.assign(watched.get(), failed);
  unwatched_ = failed.value();
  if (unwatched_ == 0) watched.Release();
  if (unwatched_ != 0) broken_ = failed.message();
  ssh_set_blocking(raw(), 0);
  ssh_set_counters(raw(), nullptr, &counter_);
}

// libssh closes the socket it was given when the other side hangs up, otherwise it leaves it open.
Session::~Session() {
  if (event_) ssh_event_remove_session(event_.get(), raw());
  event_.reset();
  if (ssh_is_connected(raw()) != 0) ssh_disconnect(raw());
  session_.reset();
  if (descriptor_.is_open() && IsSameFile(lent_, descriptor_.native_handle())) close(lent_);
}

void Session::LendSocket() {
  lent_ = socket_.Release();
  ssh_options_set(raw(), SSH_OPTIONS_FD, &lent_);
}

void Session::StartServing() {
  event_.reset(ssh_event_new());
  JM_CHECK(event_ != nullptr, "libssh has no memory");
  ssh_event_add_session(event_.get(), raw());
  After();
}

bool Session::alive() const {
  return broken_.empty();
}

/// After each packet libssh wants to hear that the socket takes more, even if nothing is left to be
/// sent: that would be a turn of the loop and some system calls each. Before the login is done,
/// only the coroutine that drives it may flush, as that goes on with it. The socket is connected
/// when libssh gets it, so that nothing but unsent bytes waits for it.
bool Session::sending() {
  if (!event_) return (ssh_get_status(raw()) & SSH_WRITE_PENDING) != 0;
  constexpr int kNoWait = 0;
  return ssh_blocking_flush(raw(), kNoWait) == SSH_AGAIN;
}

void Session::After() {
  const auto before = counter_.in_packets;
  const bool to_write = broken_.empty() && sending();  // first: it may read packets
  // Also for the caller, who does not wait yet.
  if (counter_.in_packets != before) {
    asio::post(descriptor_.get_executor(), [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->waiters_.WakeAll();
    });
  }
  if (broken_.empty() && event_ && ssh_is_connected(raw()) == 0) broken_ = SessionError(raw());
  if (noted_ != counter_.in_packets || !broken_.empty()) {
    noted_ = counter_.in_packets;
    waiters_.WakeAll();
  }
  Arm(to_write);
  if (!alive()) TellUnusable();
}

Task<void> Session::Changed(Deadline deadline) {
  return waiters_.Wait(deadline);
}

void Session::Arm(bool to_write) {
  if (!broken_.empty()) return;
  const auto ready = [weak = weak_from_this()](bool Session::*flag) {
    return [weak, flag](const std::error_code& failed) {
      const auto self = weak.lock();
      if (!self) return;
      (*self).*flag = false;
      self->OnReady(failed);
    };
  };
  if (!reading_) {
    reading_ = true;
    descriptor_.async_wait(asio::posix::stream_descriptor::wait_read, ready(&Session::reading_));
  }
  if (!writing_ && to_write) {
    writing_ = true;
    descriptor_.async_wait(asio::posix::stream_descriptor::wait_write, ready(&Session::writing_));
  }
}

void Session::OnReady(const std::error_code& failed) {
  if (failed) return;
  const auto self = shared_from_this();
  waiters_.WakeAll();
  // Before the login is done, the coroutine that drives it reads the packets.
  if (!event_) return;
  ssh_event_dopoll(event_.get(), 0);
  After();
}

void Session::Break(const std::string& why) {
  if (!broken_.empty()) return;
  broken_ = why;
  std::error_code ignored;
  descriptor_.cancel(ignored);
  waiters_.WakeAll();
  TellUnusable();
}

void Session::OnAgentChannel(std::function<ssh_channel()> open) {
  open_agent_channel_ = std::move(open);
  callbacks_.userdata = &open_agent_channel_;
  callbacks_.channel_open_request_auth_agent_function = AnswerAgentRequest;
  ssh_callbacks_init(&callbacks_);
  ssh_set_callbacks(raw(), &callbacks_);
}

void Session::Retire() {
  retired_ = true;
  TellUnusable();
}

void Session::TellUnusable() {
  if (const auto hook = std::exchange(on_unusable_, {})) hook();
}

Error Session::BrokenError() const {
  if (unwatched_ != 0) return FromConnect(endpoint_, unwatched_);
  return Broken(endpoint_, broken_.empty() ? SessionError(raw()) : broken_);
}

}  // namespace jobman::ssh
