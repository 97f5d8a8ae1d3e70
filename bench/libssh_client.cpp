// The least client: one command on many hosts by bare libssh, without anything that jobman adds: no
// retries, no checks of host keys, no prefixes, no store. What it takes is what the servers and the
// library need. exec_bench runs it; same algorithms and as many handshakes at once as jobman.
//
//   libssh_client KEY PORT USER WINDOW FILE COMMAND      FILE: an address a line
//
// Writes what the hosts write to stdout. Exit code 0 if the command ended with 0 on every host.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <libssh/libssh.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "bench/measure.hpp"
#include "jobman/base/handle.hpp"

namespace {

using namespace jobman;

constexpr int kMostSilenceMs = 60'000;  ///< of all hosts together
/// As in src/ssh/connect.cpp: with other algorithms it would measure something else.
constexpr const char* kKeyExchanges =
    "ecdh-sha2-nistp256,curve25519-sha256,curve25519-sha256@libssh.org,ecdh-sha2-nistp384,"
    "ecdh-sha2-nistp521,diffie-hellman-group18-sha512,diffie-hellman-group16-sha512,"
    "diffie-hellman-group-exchange-sha256,diffie-hellman-group14-sha256";
constexpr const char* kCiphers =
    "aes128-gcm@openssh.com,aes256-gcm@openssh.com,chacha20-poly1305@openssh.com,"
    "aes256-ctr,aes192-ctr,aes128-ctr";

struct Plan {
  ssh_key key = nullptr;
  int port = 0;
  std::string user = {};
  std::string command = {};
};

/// One connection, taken as far as it goes each time its socket is ready.
class Host {
 public:
  Host(const Plan& plan, std::string address) : plan_(plan), address_(std::move(address)) {}
  ~Host() { Close(); }
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  void Start(int epoll) {
    epoll_ = epoll;
    socket_ = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (socket_ < 0) return Fail(base::FromErrno(errno, "socket").ToString());
    const int on = 1;
    setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    sockaddr_in place = {};
    place.sin_family = AF_INET;
    place.sin_port = htons(static_cast<std::uint16_t>(plan_.port));
    inet_pton(AF_INET, address_.c_str(), &place.sin_addr);
    const auto* const to = reinterpret_cast<const sockaddr*>(&place);
    if (connect(socket_, to, sizeof place) != 0 && errno != EINPROGRESS)
      return Fail(base::FromErrno(errno, "connect").ToString());
    Watch(EPOLL_CTL_ADD, EPOLLOUT);
  }

  void OnReady() {
    if (stage_ == Stage::kConnect && !Begin()) return;
    int code = SSH_OK;
    while (stage_ != Stage::kOver && (code = Try()) == SSH_OK) Next();
    if (stage_ == Stage::kOver) return;
    if (code != SSH_AGAIN) return Fail(ssh_get_error(session_));
    const bool unsent = (ssh_get_status(session_) & SSH_WRITE_PENDING) != 0;
    Watch(EPOLL_CTL_MOD, unsent ? EPOLLIN | EPOLLOUT : EPOLLIN);
  }

  bool connecting() const { return stage_ <= Stage::kLogin; }
  bool over() const { return stage_ == Stage::kOver; }
  bool good() const { return status_ == 0; }

 private:
  enum class Stage { kConnect, kKeys, kLogin, kChannel, kCommand, kOutput, kOver };

  void Watch(int operation, std::uint32_t events) {
    epoll_event event = {};
    event.events = events;
    event.data.ptr = this;
    epoll_ctl(epoll_, operation, socket_, &event);
  }

  bool Begin() {
    int error = 0;
    socklen_t size = sizeof error;
    getsockopt(socket_, SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) {
      Fail(base::FromErrno(error, "connect").ToString());
      return false;
    }
    session_ = ssh_new();
    const int no = 0;
    ssh_options_set(session_, SSH_OPTIONS_PROCESS_CONFIG, &no);
    ssh_options_set(session_, SSH_OPTIONS_HOST, address_.c_str());
    ssh_options_set(session_, SSH_OPTIONS_USER, plan_.user.c_str());
    ssh_options_set(session_, SSH_OPTIONS_SSH_DIR, "/nonexistent");
    ssh_options_set(session_, SSH_OPTIONS_KNOWNHOSTS, "/dev/null");
    ssh_options_set(session_, SSH_OPTIONS_GLOBAL_KNOWNHOSTS, "/dev/null");
    ssh_options_set(session_, SSH_OPTIONS_HOSTKEYS, "ssh-ed25519");
    ssh_options_set(session_, SSH_OPTIONS_KEY_EXCHANGE, kKeyExchanges);
    ssh_options_set(session_, SSH_OPTIONS_CIPHERS_C_S, kCiphers);
    ssh_options_set(session_, SSH_OPTIONS_CIPHERS_S_C, kCiphers);
    ssh_options_set(session_, SSH_OPTIONS_FD, &socket_);
    ssh_set_blocking(session_, 0);
    stage_ = Stage::kKeys;
    return true;
  }

  /// SSH_OK: the stage is done; SSH_AGAIN: later; anything else: it failed.
  int Try() {
    switch (stage_) {
      case Stage::kKeys:
        return ssh_connect(session_);
      case Stage::kLogin:
        return LogIn();
      case Stage::kChannel:
        if (channel_ == nullptr) channel_ = ssh_channel_new(session_);
        return ssh_channel_open_session(channel_);
      case Stage::kCommand:
        return ssh_channel_request_exec(channel_, plan_.command.c_str());
      case Stage::kOutput:
        return Read();
      case Stage::kConnect:
      case Stage::kOver:
        break;
    }
    return SSH_ERROR;
  }

  void Next() {
    stage_ = static_cast<Stage>(static_cast<int>(stage_) + 1);
    if (stage_ == Stage::kOver) Close();
  }

  int LogIn() {
    const int code = ssh_userauth_publickey(session_, nullptr, plan_.key);
    if (code == SSH_AUTH_SUCCESS) return SSH_OK;
    return code == SSH_AUTH_AGAIN ? SSH_AGAIN : SSH_ERROR;
  }

  int Read() {
    status_ = ssh_channel_get_exit_status(channel_);  // handles what has arrived
    std::array<char, 16384> bytes = {};
    while (true) {
      const int size = ssh_channel_read_nonblocking(channel_, bytes.data(), bytes.size(), 0);
      if (size <= 0) break;
      std::fwrite(bytes.data(), 1, static_cast<std::size_t>(size), stdout);
    }
    const bool closed = ssh_channel_is_closed(channel_) != 0;
    if (closed) status_ = ssh_channel_get_exit_status(channel_);  // it came while we read
    if (status_ >= 0 && ssh_channel_is_eof(channel_) != 0) return SSH_OK;
    return closed || ssh_is_connected(session_) == 0 ? SSH_ERROR : SSH_AGAIN;
  }

  void Fail(const std::string& why) {
    fmt::print(stderr, "{}: {}\n", address_, why);
    status_ = -1;
    stage_ = Stage::kOver;
    Close();
  }

  void Close() {
    if (socket_ < 0) return;
    epoll_ctl(epoll_, EPOLL_CTL_DEL, socket_, nullptr);
    if (session_ != nullptr) {
      ssh_disconnect(session_);
      ssh_free(session_);
    }
    close(socket_);  // libssh may have: nothing was opened since
    socket_ = -1;
  }

  const Plan& plan_;
  std::string address_;
  int epoll_ = -1;
  int socket_ = -1;
  ssh_session session_ = nullptr;
  ssh_channel channel_ = nullptr;  ///< ends with the session
  Stage stage_ = Stage::kConnect;
  int status_ = -1;
};

using Hosts = std::vector<std::unique_ptr<Host>>;

/// One event of a host: true if it leaves the window, or ended in it.
bool LeavesWindow(Host& host) {
  const bool was = host.connecting();
  host.OnReady();
  return was && !host.connecting();
}

void RunAll(Hosts& hosts, std::size_t window) {
  const base::UniqueFd epoll(epoll_create1(EPOLL_CLOEXEC));
  std::array<epoll_event, 256> events = {};
  std::size_t next = 0;
  std::size_t connecting = 0;
  std::size_t over = 0;
  while (over < hosts.size()) {
    for (; next < hosts.size() && connecting < window; ++next) {
      hosts[next]->Start(epoll.get());
      if (hosts[next]->over())
        ++over;
      else
        ++connecting;
    }
    const int count = epoll_wait(epoll.get(), events.data(), events.size(), kMostSilenceMs);
    if (count <= 0) return;
    for (int i = 0; i < count; ++i) {
      auto& host = *static_cast<Host*>(events[static_cast<std::size_t>(i)].data.ptr);
      if (LeavesWindow(host)) --connecting;
      if (host.over()) ++over;
    }
  }
}

Hosts ReadHosts(const Plan& plan, const std::string& file) {
  Hosts hosts;
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);)
    hosts.push_back(std::make_unique<Host>(plan, line));
  return hosts;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 7) {
    fmt::print(stderr, "usage: libssh_client KEY PORT USER WINDOW FILE COMMAND\n");
    return 2;
  }
  rlimit files = {};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  Plan plan{.port = bench::Argument(argc, argv, 2, 22), .user = argv[3], .command = argv[6]};
  if (ssh_pki_import_privkey_file(argv[1], nullptr, nullptr, nullptr, &plan.key) != SSH_OK) {
    fmt::print(stderr, "{} is not a private key that can be read\n", argv[1]);
    return 2;
  }
  bool good = true;
  {
    Hosts hosts = ReadHosts(plan, argv[5]);
    RunAll(hosts, static_cast<std::size_t>(bench::Argument(argc, argv, 4, 64)));
    for (const auto& host : hosts) good &= host->over() && host->good();
  }
  ssh_key_free(plan.key);
  return good ? 0 : 1;
}
