#pragma once

#include <functional>
#include <memory>

#include "jobman/base/result.hpp"
#include "sim/wire/request.hpp"

namespace jobman::sim {

/// HTTP/1.1 on 127.0.0.1 with keep-alive, one thread for each connection.
class HttpServer {
 public:
  using Handler = std::function<Reply(const Request&)>;

  /// Takes the port (0: a free one). Connections wait until Serve().
  static base::Result<std::unique_ptr<HttpServer>> Bind(int port);
  /// Answers from now on, each connection in its own thread. What the handler uses must be ready.
  void Serve(Handler handler);
  /// Ends every connection and refuses new ones for `time`; answers under way may still go out.
  /// Returns at once. May be called from any thread; the server must live until it is over.
  void Unplug(Duration time);
  /// Takes no new connections. Threads of open ones may run until the process ends.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  int port() const { return port_; }

 private:
  struct Impl;
  HttpServer();
  std::unique_ptr<Impl> impl_;
  int port_ = 0;
};

}  // namespace jobman::sim
