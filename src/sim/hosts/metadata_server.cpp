#include "sim/hosts/metadata_server.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>

namespace jobman::sim {

namespace {

constexpr int kMetadataBacklog = 1024;
constexpr std::size_t kMostClients = 8192;  ///< more wait in the backlog
constexpr std::size_t kLongestHead = 16384;

base::Error Failed(const char* what) {
  return base::FromErrno(errno, what).With("the hosts' metadata server");
}

std::string AddressOf(int socket) {
  sockaddr_in name{};
  socklen_t size = sizeof name;
  char text[INET_ADDRSTRLEN] = "";
  if (getsockname(socket, reinterpret_cast<sockaddr*>(&name), &size) == 0) {
    inet_ntop(AF_INET, &name.sin_addr, text, sizeof text);
  }
  return text;
}

/// A reply fits into the socket's buffer. If the client is gone, it needs none.
void Send(int socket, const GuestReply& reply) {
  const std::string text = OnWire(reply);
  (void)!send(socket, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  shutdown(socket, SHUT_WR);
}

}  // namespace

base::Result<std::unique_ptr<MetadataServer>> MetadataServer::Bind() {
  std::unique_ptr<MetadataServer> made(new MetadataServer);
  base::UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  // Listens on every address of this device only, so that no other machine can reach it.
  if (setsockopt(fd.get(), SOL_SOCKET, SO_BINDTODEVICE, "lo", sizeof "lo") != 0) {
    return Failed("binding to the device lo");
  }
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_addr.s_addr = htonl(INADDR_ANY);
  socklen_t size = sizeof name;
  if (bind(fd.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0 ||
      listen(fd.get(), kMetadataBacklog) != 0 ||
      getsockname(fd.get(), reinterpret_cast<sockaddr*>(&name), &size) != 0) {
    return Failed("listening");
  }
  made->port_ = ntohs(name.sin_port);
  made->listener_ = std::move(fd);
  made->event_ = base::UniqueFd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!made->event_) return Failed("eventfd");
  return made;
}

void MetadataServer::Serve(Guard guard, Source source) {
  guard_ = std::move(guard);
  source_ = std::move(source);
  thread_ = std::thread([this] { Run(); });
}

MetadataServer::~MetadataServer() {
  stopping_ = true;
  Wake();
  if (thread_.joinable()) thread_.join();
}

void MetadataServer::Wake() {
  const std::uint64_t one = 1;
  (void)!write(event_.get(), &one, sizeof one);
}

int MetadataServer::PollTimeout() const {
  auto until = Clock::time_point::max();
  for (const Client& client : clients_) until = std::min(until, client.until);
  if (until == Clock::time_point::max()) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000));
}

void MetadataServer::Run() {
  while (true) {
    std::vector<pollfd> polled = {{.fd = event_.get(), .events = POLLIN, .revents = 0},
                                  {.fd = clients_.size() < kMostClients ? listener_.get() : -1,
                                   .events = POLLIN,
                                   .revents = 0}};
    for (const Client& client : clients_) {
      polled.push_back({.fd = client.socket.get(), .events = POLLIN, .revents = 0});
    }
    poll(polled.data(), polled.size(), PollTimeout());
    std::uint64_t changes = 0;
    const bool changed = read(event_.get(), &changes, sizeof changes) > 0;
    if (stopping_) return;
    for (std::size_t i = 2; i < polled.size(); ++i) {
      Client& client = clients_[i - 2];
      if (polled[i].revents != 0 && !Read(client)) client.socket.Reset();
    }
    Review(changed);
    std::erase_if(clients_, [](const Client& client) { return !client.socket; });
    if ((polled[1].revents & POLLIN) != 0) Accept();
  }
}

void MetadataServer::Accept() {
  base::UniqueFd socket(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!socket) return;
  std::string address = AddressOf(socket.get());
  clients_.push_back({.socket = std::move(socket), .address = std::move(address)});
}

bool MetadataServer::Read(Client& client) {
  char buffer[4096];
  const ssize_t n = recv(client.socket.get(), buffer, sizeof buffer, 0);
  if (n < 0) return errno == EAGAIN || errno == EINTR;
  if (n == 0) return false;
  if (client.waits) return true;  // will be answered when its wait is over
  client.head.append(buffer, static_cast<std::size_t>(n));
  const auto end = client.head.find("\r\n\r\n");
  if (end == std::string::npos) return client.head.size() < kLongestHead;
  const auto request = ParseGuestRequest(client.head.substr(0, end));
  return request && Begin(client, *request);
}

std::optional<GuestReply> MetadataServer::RefusalOf(const Client& client,
                                                    const GuestRequest& request) const {
  if (auto refusal = Refusal(request, client.address)) return refusal;
  const auto peer = PeerOf(client.socket.get());
  if (peer && guard_(client.address, *peer)) return std::nullopt;
  return GuestReply{.status = 403,
                    .body = "only the host with this address reads its metadata\n",
                    .type = "text/plain"};
}

bool MetadataServer::Begin(Client& client, const GuestRequest& request) {
  const auto refusal = RefusalOf(client, request);
  const GuestReply reply = refusal ? *refusal : source_(client.address, request);
  const bool seen = request.last_etag.empty() || request.last_etag == reply.ETag();
  if (reply.status != 200 || !request.wait || !seen) {
    Send(client.socket.get(), reply);
    return false;
  }
  client.waits = request;
  client.etag = reply.ETag();
  if (request.timeout) client.until = Clock::now() + *request.timeout;
  return true;
}

void MetadataServer::Review(bool changed) {
  const auto now = Clock::now();
  for (Client& client : clients_) {
    if (!client.socket || !client.waits) continue;
    const bool over = client.until <= now;
    if (!changed && !over) continue;
    const GuestReply reply = source_(client.address, *client.waits);
    if (!over && reply.ETag() == client.etag) continue;
    Send(client.socket.get(), reply);
    client.socket.Reset();
  }
}

}  // namespace jobman::sim
