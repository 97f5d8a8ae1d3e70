#include "sim/http_server.hpp"

#include <httplib.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <thread>

#include "jobman/base/strings.hpp"

namespace jobman::sim {

namespace {

constexpr int kHttpBacklog = 1024;  ///< cpp-httplib's own is 5
constexpr int kKeepAliveSeconds = 30;

/// A thread for each connection: a kept-alive one occupies its thread while it is idle, so a pool
/// of fixed size would make the next client wait.
class ConnectionThreads final : public httplib::TaskQueue {
 public:
  void enqueue(std::function<void()> serve) override { std::thread(std::move(serve)).detach(); }
  void shutdown() override {}
};

Request FromHttp(const httplib::Request& from) {
  Request request{.method = from.method, .path = from.path, .body = from.body};
  for (const auto& [key, value] : from.params) request.query.emplace(key, value);
  const std::string authorization = from.get_header_value("Authorization");
  if (authorization.starts_with("Bearer ")) request.token = authorization.substr(7);
  return request;
}

/// Closes the connection of a request under the server's hands. cpp-httplib has no way to answer
/// nothing, and does not tell the socket, so it is found by the client's port.
void Hangup(const httplib::Request& request, int local_port) {
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  const int last = static_cast<int>(std::min<rlim_t>(files.rlim_cur, 65536));
  for (int fd = 3; fd < last; ++fd) {
    sockaddr_in peer{};
    sockaddr_in here{};
    socklen_t size = sizeof peer;
    if (getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &size) != 0) continue;
    size = sizeof here;
    if (getsockname(fd, reinterpret_cast<sockaddr*>(&here), &size) != 0) continue;
    if (ntohs(peer.sin_port) == request.remote_port && ntohs(here.sin_port) == local_port) {
      ::shutdown(fd, SHUT_RDWR);
      return;
    }
  }
}

void ToHttp(const Request& request, const Reply& reply, httplib::Response& to) {
  to.status = reply.status;
  to.set_header("Server", "ESF");
  to.set_header("Vary", "Origin, X-Origin, Referer");
  if (reply.status == 401) {
    to.set_header("WWW-Authenticate", "Bearer realm=\"https://accounts.google.com/\"");
  }
  for (const auto& [key, value] : reply.headers) to.set_header(key, value);
  const bool pretty = Query(request, "prettyPrint") != "false";
  // Bytes that are no UTF-8 must not end the server.
  to.set_content(reply.body.dump(pretty ? 2 : -1, ' ', false, Json::error_handler_t::replace),
                 "application/json; charset=UTF-8");
}

}  // namespace

struct HttpServer::Impl {
  httplib::Server server = {};
  int listener = -1;
  std::thread thread = {};
};

HttpServer::HttpServer() : impl_(std::make_unique<Impl>()) {}

HttpServer::~HttpServer() {
  impl_->server.stop();
  if (impl_->thread.joinable()) impl_->thread.join();
}

base::Result<std::unique_ptr<HttpServer>> HttpServer::Bind(int port) {
  std::unique_ptr<HttpServer> made(new HttpServer);
  HttpServer* self = made.get();
  httplib::Server& server = made->impl_->server;
  server.new_task_queue = [] { return new ConnectionThreads; };
  server.set_tcp_nodelay(true);
  server.set_keep_alive_max_count(1000000000);
  server.set_keep_alive_timeout(kKeepAliveSeconds);
  server.set_socket_options([self](int fd) {
    const int on = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    self->impl_->listener = fd;
  });
  made->port_ = port == 0 ? server.bind_to_any_port("127.0.0.1")
                          : (server.bind_to_port("127.0.0.1", port) ? port : -1);
  if (made->port_ <= 0) {
    return base::Error{.code = base::Code::kUnavailable,
                       .message = "port " + std::to_string(port) + " of 127.0.0.1 is in use",
                       .hint = "choose another with --port, or 0 for any free one"};
  }
  listen(made->impl_->listener, kHttpBacklog);
  return made;
}

void HttpServer::Serve(Handler handler) {
  const auto serve = [this, handler = std::move(handler)](const httplib::Request& from,
                                                          httplib::Response& to) {
    const Request request = FromHttp(from);
    const Reply reply = handler(request);
    if (reply.lost) Hangup(from, port_);
    ToHttp(request, reply, to);
  };
  impl_->server.Get(".*", serve).Post(".*", serve).Patch(".*", serve).Delete(".*", serve);
  impl_->thread = std::thread([this] { impl_->server.listen_after_bind(); });
}

}  // namespace jobman::sim
