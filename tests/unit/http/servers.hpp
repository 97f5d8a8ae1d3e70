#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <thread>

#include "jobman/http/curl_transport.hpp"

namespace jobman::http {

/// Serves one connection at a time with arbitrary bytes. Loopback only.
class RawServer {
 public:
  using Handler = std::function<void(int fd)>;

  explicit RawServer(Handler handler) : handler_(std::move(handler)) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    const bool listens =
        ::bind(listener_, reinterpret_cast<const sockaddr*>(&address), size) == 0 &&
        ::listen(listener_, 16) == 0;
    EXPECT_TRUE(listens) << std::strerror(errno);
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { Serve(); });
  }
  RawServer(const RawServer&) = delete;
  RawServer& operator=(const RawServer&) = delete;
  ~RawServer() {
    stopped_ = true;
    ::shutdown(listener_, SHUT_RDWR);
    const int current = current_;
    if (current >= 0) ::shutdown(current, SHUT_RDWR);
    thread_.join();
    ::close(listener_);
  }

  std::string Url(const std::string& path = "/") const {
    return "http://127.0.0.1:" + std::to_string(port_) + path;
  }
  int port() const { return port_; }
  int connections() const { return connections_; }

  /// Reads until the empty line that ends a request's headers, or the end.
  static std::string ReadHead(int fd) {
    std::string head;
    char byte = 0;
    while (!head.ends_with("\r\n\r\n") && ::recv(fd, &byte, 1, 0) == 1) head += byte;
    return head;
  }
  static void Write(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t count = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (count <= 0) return;
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
  }
  /// Until the peer closes, or the server is destroyed.
  static void WaitForEnd(int fd) {
    char byte = 0;
    while (::recv(fd, &byte, 1, 0) == 1) {
    }
  }

 private:
  void Serve() {
    while (!stopped_) {
      const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0) continue;
      current_ = fd;
      ++connections_;
      if (!stopped_) handler_(fd);
      current_ = -1;
      ::close(fd);
    }
  }

  Handler handler_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<bool> stopped_ = false;
  std::atomic<int> current_ = -1;
  std::atomic<int> connections_ = 0;
  std::thread thread_;
};

/// A loop and a transport on it; destroyed in the right order.
struct Client {
  asio::io_context loop = {};
  std::unique_ptr<Transport> transport = {};

  explicit Client(CurlOptions options = {}) {
    auto made = MakeCurlTransport(loop.get_executor(), std::move(options));
    JM_CHECK(made.ok(), "the transport starts");
    transport = std::move(made).value();
  }
  base::Result<Response> Send(Request request) {
    return base::RunTask(loop, transport->Send(std::move(request)));
  }
};

}  // namespace jobman::http
