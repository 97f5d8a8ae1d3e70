#pragma once

#include <asio/any_io_executor.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/steady_timer.hpp>
#include <map>
#include <memory>

#include "http/curl_handles.hpp"
#include "jobman/base/task.hpp"

namespace jobman::http {

/// libcurl's multi interface on the loop: libcurl names the sockets and the timer it waits for,
/// this waits and calls back. Shared by all exchanges, so it lives as long as the last one.
class CurlLoop : public std::enable_shared_from_this<CurlLoop> {
 public:
  /// Tells an exchange that it has ended.
  struct Ending {
    explicit Ending(const asio::any_io_executor& executor)
        : wake(executor, asio::steady_timer::time_point::max()) {}
    asio::steady_timer wake;  ///< cancelled when `finished` is set
    bool finished = false;
    CURLcode code = CURLE_OK;
  };

  CurlLoop(asio::any_io_executor executor, UniqueMulti multi);
  CurlLoop(const CurlLoop&) = delete;
  CurlLoop& operator=(const CurlLoop&) = delete;
  ~CurlLoop();

  const asio::any_io_executor& executor() const { return executor_; }
  CURLM* multi() const { return multi_.get(); }

  /// Starts the exchange; `ending` must live until Remove().
  base::Status Add(CURL* easy, Ending* ending);
  /// Ends it, finished or not.
  void Remove(CURL* easy);

 private:
  /// One socket of libcurl. The descriptor is a duplicate: libcurl owns and closes the original.
  struct Watch {
    Watch(const asio::any_io_executor& executor, int duplicate, curl_socket_t original)
        : descriptor(executor, duplicate), socket(original) {}
    asio::posix::stream_descriptor descriptor;
    curl_socket_t socket = CURL_SOCKET_BAD;
    int wanted = CURL_POLL_NONE;
    bool waits_read = false;
    bool waits_write = false;
    bool dropped = false;
  };

  static int OnSocket(CURL* easy, curl_socket_t socket, int what, void* self, void* unused);
  static int OnTimer(CURLM* multi, long milliseconds, void* self);
  void SetWatch(curl_socket_t socket, int what);
  void DropWatch(curl_socket_t socket);
  void Arm(const std::shared_ptr<Watch>& watch);
  void Wait(const std::shared_ptr<Watch>& watch, bool to_write);
  void SetTimer(long milliseconds);
  void Act(curl_socket_t socket, int events);
  void CollectEnded();

  asio::any_io_executor executor_;
  UniqueMulti multi_;
  asio::steady_timer timer_;
  std::map<curl_socket_t, std::shared_ptr<Watch>> watches_ = {};
};

/// Runs one exchange to its end. Cancelling removes it from the loop at once.
base::Task<base::Result<CURLcode>> Perform(std::shared_ptr<CurlLoop> loop, CURL* easy);

}  // namespace jobman::http
