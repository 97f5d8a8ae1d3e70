#include "http/curl_loop.hpp"

#include <fcntl.h>

#include <asio/error.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>

namespace jobman::http {

CurlLoop::CurlLoop(asio::any_io_executor executor, UniqueMulti multi)
    : executor_(std::move(executor)), multi_(std::move(multi)), timer_(executor_) {
  curl_multi_setopt(multi_.get(), CURLMOPT_SOCKETFUNCTION, &CurlLoop::OnSocket);
  curl_multi_setopt(multi_.get(), CURLMOPT_SOCKETDATA, this);
  curl_multi_setopt(multi_.get(), CURLMOPT_TIMERFUNCTION, &CurlLoop::OnTimer);
  curl_multi_setopt(multi_.get(), CURLMOPT_TIMERDATA, this);
}

CurlLoop::~CurlLoop() {
  // Closing the cached connections must not call back into a half-destroyed object.
  curl_multi_setopt(multi_.get(), CURLMOPT_SOCKETFUNCTION, nullptr);
  curl_multi_setopt(multi_.get(), CURLMOPT_TIMERFUNCTION, nullptr);
  while (!watches_.empty()) DropWatch(watches_.begin()->first);
}

base::Status CurlLoop::Add(CURL* easy, Ending* ending) {
  curl_easy_setopt(easy, CURLOPT_PRIVATE, ending);
  const CURLMcode code = curl_multi_add_handle(multi_.get(), easy);
  if (code == CURLM_OK) return base::Ok();
  return base::Internal(std::string("libcurl refused a request: ") + curl_multi_strerror(code));
}

void CurlLoop::Remove(CURL* easy) {
  curl_multi_remove_handle(multi_.get(), easy);
}

int CurlLoop::OnSocket(CURL* /*easy*/, curl_socket_t socket, int what, void* self,
                       void* /*unused*/) {
  static_cast<CurlLoop*>(self)->SetWatch(socket, what);
  return 0;
}

int CurlLoop::OnTimer(CURLM* /*multi*/, long milliseconds, void* self) {
  static_cast<CurlLoop*>(self)->SetTimer(milliseconds);
  return 0;
}

void CurlLoop::SetWatch(curl_socket_t socket, int what) {
  if (what == CURL_POLL_REMOVE) {
    DropWatch(socket);
    return;
  }
  std::shared_ptr<Watch>& watch = watches_[socket];
  if (watch == nullptr) {
    const int duplicate = ::fcntl(socket, F_DUPFD_CLOEXEC, 3);
    if (duplicate < 0) {
      // Out of descriptors: the exchange will time out.
      watches_.erase(socket);
      return;
    }
    watch = std::make_shared<Watch>(executor_, duplicate, socket);
  }
  watch->wanted = what;
  Arm(watch);
}

void CurlLoop::DropWatch(curl_socket_t socket) {
  const auto found = watches_.find(socket);
  if (found == watches_.end()) return;
  found->second->dropped = true;
  asio::error_code ignored;
  found->second->descriptor.close(ignored);
  watches_.erase(found);
}

void CurlLoop::Arm(const std::shared_ptr<Watch>& watch) {
  if ((watch->wanted & CURL_POLL_IN) != 0 && !watch->waits_read) Wait(watch, false);
  if ((watch->wanted & CURL_POLL_OUT) != 0 && !watch->waits_write) Wait(watch, true);
}

void CurlLoop::Wait(const std::shared_ptr<Watch>& watch, bool to_write) {
  (to_write ? watch->waits_write : watch->waits_read) = true;
  const auto direction = to_write ? asio::posix::stream_descriptor::wait_write
                                  : asio::posix::stream_descriptor::wait_read;
  watch->descriptor.async_wait(
      direction, [weak = weak_from_this(), watch, to_write](const asio::error_code& error) {
        (to_write ? watch->waits_write : watch->waits_read) = false;
        const std::shared_ptr<CurlLoop> self = weak.lock();
        if (watch->dropped || self == nullptr || error == asio::error::operation_aborted) return;
        const int events = error ? CURL_CSELECT_ERR : to_write ? CURL_CSELECT_OUT : CURL_CSELECT_IN;
        const bool wanted = (watch->wanted & (to_write ? CURL_POLL_OUT : CURL_POLL_IN)) != 0;
        if (wanted) self->Act(watch->socket, events);
        if (!watch->dropped && !error) self->Arm(watch);
      });
}

void CurlLoop::SetTimer(long milliseconds) {
  if (milliseconds < 0) {
    timer_.cancel();
    return;
  }
  timer_.expires_after(std::chrono::milliseconds(milliseconds));
  // Even 0 ms goes through the loop: libcurl must not be called from its own callback.
  timer_.async_wait([weak = weak_from_this()](const asio::error_code& error) {
    const std::shared_ptr<CurlLoop> self = weak.lock();
    if (!error && self != nullptr) self->Act(CURL_SOCKET_TIMEOUT, 0);
  });
}

void CurlLoop::Act(curl_socket_t socket, int events) {
  int running = 0;
  curl_multi_socket_action(multi_.get(), socket, events, &running);
  CollectEnded();
}

void CurlLoop::CollectEnded() {
  int left = 0;
  while (const CURLMsg* message = curl_multi_info_read(multi_.get(), &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    char* data = nullptr;
    curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &data);
    auto* ending = reinterpret_cast<Ending*>(data);
    ending->code = message->data.result;
    ending->finished = true;
    ending->wake.cancel();
  }
}

namespace {

/// Keeps the exchange registered while this lives, however the coroutine ends.
class Running {
 public:
  Running(std::shared_ptr<CurlLoop> loop, CURL* easy)
      : ending(loop->executor()), loop_(std::move(loop)), easy_(easy) {}
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  ~Running() { loop_->Remove(easy_); }

  base::Status Start() { return loop_->Add(easy_, &ending); }

  CurlLoop::Ending ending;

 private:
  std::shared_ptr<CurlLoop> loop_;
  CURL* easy_;
};

}  // namespace

base::Task<base::Result<CURLcode>> Perform(std::shared_ptr<CurlLoop> loop, CURL* easy) {
  Running running(std::move(loop), easy);
  JM_CO_TRY(running.Start());
  asio::error_code woken;
  auto token = asio::redirect_error(asio::use_awaitable, woken);
  if (!running.ending.finished) co_await running.ending.wake.async_wait(token);
  co_await base::EndIfCancelled();
  co_return running.ending.code;
}

}  // namespace jobman::http
