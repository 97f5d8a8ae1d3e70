#include "sim/wire/http_server.hpp"

#include <httplib.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <thread>
#include <utility>

#include "jobman/base/handle.hpp"
#include "sim/wire/gzip.hpp"
#include "sim/wire/tcp_port.hpp"

namespace jobman::sim {

namespace {

constexpr int kHttpBacklog = 1024;  ///< cpp-httplib's own is 5
constexpr int kKeepAliveSeconds = 30;
constexpr std::size_t kLongestBody = std::size_t{16} << 20U;
constexpr auto kLastAnswers = std::chrono::milliseconds(20);  ///< time for them to go out

/// One thread per connection. An idle connection keeps its thread, so with a fixed pool the next
/// client would wait.
class ConnectionThreads final : public httplib::TaskQueue {
 public:
  void enqueue(std::function<void()> serve) override { std::thread(std::move(serve)).detach(); }
  void shutdown() override {}
};

Request FromHttp(const httplib::Request& from) {
  Request request{.method = from.method, .path = ValidText(from.path), .body = from.body};
  request.query =
      ParseQuery(from.target, &request.repeated);  // cpp-httplib loses what is before a second "="
  return request;
}

/// The header, unless there are several: they would be a question of who reads which.
std::string OnlyHeader(const httplib::Request& from, const char* name) {
  return from.get_header_value_count(name) == 1 ? from.get_header_value(name) : std::string();
}

Envelope EnvelopeOf(const httplib::Request& from) {
  constexpr std::string_view kScheme = "Bearer ";
  Envelope envelope{.host = OnlyHeader(from, "Host"),
                    .content = OnlyHeader(from, "Content-Type"),
                    .has_origin = from.has_header("Origin"),
                    .has_body = !from.body.empty() || from.is_multipart_form_data()};
  const std::string authorization = OnlyHeader(from, "Authorization");
  if (authorization.starts_with(kScheme)) envelope.token = authorization.substr(kScheme.size());
  return envelope;
}

/// Closes connections of the server at `local_port`: those from the client's port `remote_port`, or
/// all if that is 0. cpp-httplib cannot drop a request without an answer, and does not expose the
/// socket.
void Hangup(int remote_port, int local_port) {
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
    const bool theirs = remote_port == 0 || ntohs(peer.sin_port) == remote_port;
    if (theirs && ntohs(here.sin_port) == local_port) ::shutdown(fd, SHUT_RDWR);
  }
}

void ToHttp(const httplib::Request& from, const Request& request, const Reply& reply,
            httplib::Response& to) {
  to.status = reply.status;
  to.set_header("Server", "ESF");
  to.set_header("Vary", "Origin, X-Origin, Referer");
  if (reply.status == 401) {
    to.set_header("WWW-Authenticate", "Bearer realm=\"https://accounts.google.com/\"");
  }
  for (const auto& [key, value] : reply.headers) to.set_header(key, value);
  const bool pretty = Query(request, "prettyPrint") != "false";
  // Bytes that are not UTF-8 must not crash the server.
  std::string body = reply.body.dump(pretty ? 2 : -1, ' ', false, Json::error_handler_t::replace);
  if (AcceptsGzip(from.get_header_value("Accept-Encoding"))) {
    if (auto packed = Gzip(body)) {
      body = std::move(*packed);
      to.set_header("Content-Encoding", "gzip");
    }
  }
  to.set_content(body, "application/json; charset=UTF-8");
}

}  // namespace

struct HttpServer::Impl {
  using Clock = std::chrono::steady_clock;

  /// Returns the bound port; -1 if it is taken.
  int Open(int port);
  /// Answers requests, in a thread.
  void Listen(int port);
  /// Refuses connections until `off_until`; runs in its own thread.
  void StayOff(int port);

  std::unique_ptr<httplib::Server> server = {};
  int listener = -1;
  std::thread thread = {};
  Gate gate{""};
  Handler handler = {};
  std::mutex mutex = {};
  bool off = false;
  Clock::time_point off_until = {};
};

int HttpServer::Impl::Open(int port) {
  server = std::make_unique<httplib::Server>();
  server->new_task_queue = [] { return new ConnectionThreads; };
  server->set_tcp_nodelay(true);
  server->set_payload_max_length(kLongestBody);
  server->set_keep_alive_max_count(1000000000);
  server->set_keep_alive_timeout(kKeepAliveSeconds);
  server->set_socket_options([this](int fd) {
    const int on = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    listener = fd;
  });
  const int bound = port == 0 ? server->bind_to_any_port("127.0.0.1")
                              : (server->bind_to_port("127.0.0.1", port) ? port : -1);
  if (bound > 0) listen(listener, kHttpBacklog);
  return bound;
}

void HttpServer::Impl::Listen(int port) {
  const auto serve = [this, port](const httplib::Request& from, httplib::Response& to) {
    const Request request = FromHttp(from);
    const auto refusal = gate.Refusal(EnvelopeOf(from));
    const Reply reply = refusal ? *refusal : handler(request);
    if (reply.lost) Hangup(from.remote_port, port);
    ToHttp(from, request, reply, to);
  };
  server->Get(".*", serve).Post(".*", serve).Patch(".*", serve).Delete(".*", serve);
  server->Put(".*", serve).Options(".*", serve);
  thread = std::thread([serving = server.get()] { serving->listen_after_bind(); });
}

void HttpServer::Impl::StayOff(int port) {
  std::this_thread::sleep_for(kLastAnswers);
  server->stop();
  thread.join();
  // Bound but not listening: connections are refused.
  const base::UniqueFd held = BindTcp("127.0.0.1", port, OldConnections::kDoNotMatter);
  Hangup(0, port);
  // Threads of its connections may still use it for a moment, so it is never destroyed.
  (void)server.release();
  std::unique_lock lock(mutex);
  while (Clock::now() < off_until) {
    const auto until = off_until;
    lock.unlock();
    std::this_thread::sleep_until(until);
    lock.lock();
  }
  while (Open(port) < 0) std::this_thread::sleep_for(kLastAnswers);
  Listen(port);
  off = false;
}

HttpServer::HttpServer() : impl_(std::make_unique<Impl>()) {}

HttpServer::~HttpServer() {
  impl_->server->stop();
  if (impl_->thread.joinable()) impl_->thread.join();
}

base::Result<std::unique_ptr<HttpServer>> HttpServer::Bind(int port) {
  std::unique_ptr<HttpServer> made(new HttpServer);
  made->port_ = made->impl_->Open(port);
  if (made->port_ <= 0) {
    return base::Error{.code = base::Code::kUnavailable,
                       .message = "port " + std::to_string(port) + " of 127.0.0.1 is in use",
                       .hint = "choose another with --port, or 0 for any free one"};
  }
  return made;
}

void HttpServer::Serve(Gate gate, Handler handler) {
  impl_->gate = std::move(gate);
  impl_->handler = std::move(handler);
  impl_->Listen(port_);
}

void HttpServer::Unplug(Duration time) {
  const std::lock_guard lock(impl_->mutex);
  impl_->off_until = std::max(impl_->off_until, Impl::Clock::now() + time);
  if (std::exchange(impl_->off, true)) return;
  std::thread([impl = impl_.get(), port = port_] { impl->StayOff(port); }).detach();
}

}  // namespace jobman::sim
