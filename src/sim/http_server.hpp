#pragma once

#include <functional>
#include <memory>

#include "jobman/base/result.hpp"
#include "sim/wire.hpp"

namespace jobman::sim {

/// HTTP/1.1 on 127.0.0.1 with kept-alive connections, a thread for each.
class HttpServer {
 public:
  using Handler = std::function<Reply(const Request&)>;

  /// Takes the port (0: a free one). Connections wait until Serve().
  static base::Result<std::unique_ptr<HttpServer>> Bind(int port);
  /// Answers from now on, each connection in a thread of its own: what the handler reads must be
  /// complete by now.
  void Serve(Handler handler);
  /// Ends every connection and refuses new ones for a time; answers under way may still go out.
  /// Gives back at once, any thread. The server must outlive it.
  void Unplug(Duration time);
  /// Takes no new connections. Threads of open ones may still run until the process ends.
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
