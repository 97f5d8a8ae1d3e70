#pragma once

#include <functional>
#include <memory>

#include "jobman/base/result.hpp"
#include "sim/wire/gate.hpp"
#include "sim/wire/request.hpp"

namespace jobman::sim {

/// HTTP/1.1 on 127.0.0.1 with keep-alive, one thread per connection.
class HttpServer {
 public:
  using Handler = std::function<Reply(const Request&)>;

  /// Binds the port (0: a free one). Connections wait until Serve().
  static base::Result<std::unique_ptr<HttpServer>> Bind(int port);
  /// Answers from now on, each connection in its own thread. The handler must be ready for use; it
  /// sees only what the gate lets through.
  void Serve(Gate gate, Handler handler);
  /// Closes every connection and refuses new ones for `time`; answers under way may still go out.
  /// Returns at once. May be called from any thread; the server must live until the time is over.
  void Unplug(Duration time);
  /// Stops accepting connections. Threads of open ones may run until the process ends.
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
