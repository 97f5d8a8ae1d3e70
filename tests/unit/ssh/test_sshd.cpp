#include "tests/unit/ssh/test_sshd.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>

#include "jobman/base/handle.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/ssh/keys.hpp"

namespace jobman::ssh {
namespace {

constexpr const char* kSshd = "/usr/sbin/sshd";

sockaddr_in Address(const std::string& address, int port) {
  sockaddr_in result = {};
  result.sin_family = AF_INET;
  result.sin_port = htons(static_cast<std::uint16_t>(port));
  inet_pton(AF_INET, address.c_str(), &result.sin_addr);
  return result;
}

bool Answers(const std::string& address, int port) {
  const base::UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in where = Address(address, port);
  const void* raw = &where;
  return connect(fd.get(), static_cast<const sockaddr*>(raw), sizeof where) == 0;
}

pid_t Spawn(const std::vector<std::string>& argv, const std::string& log) {
  std::vector<char*> words;
  for (const auto& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  const pid_t pid = fork();
  if (pid != 0) return pid;
  setpgid(0, 0);
  dup2(open("/dev/null", O_RDONLY), 0);
  const int out = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  dup2(out, 1);
  dup2(out, 2);
  execvp(words[0], words.data());
  _exit(127);
}

/// The children of a process, from /proc.
std::vector<pid_t> ChildrenOf(pid_t parent) {
  std::vector<pid_t> children;
  const auto list =
      base::ReadFile(fmt::format("/proc/{}/task/{}/children", parent, parent)).value_or("");
  for (const auto& word : base::Split(list, ' '))
    if (const auto pid = base::ParseNumber(word)) children.push_back(static_cast<pid_t>(*pid));
  return children;
}

/// Top down: a server that outlives its command would still report its end.
void KillTree(pid_t pid) {
  const auto children = ChildrenOf(pid);
  kill(pid, SIGKILL);
  for (const pid_t child : children) KillTree(child);
}

}  // namespace

TempDir::TempDir() {
  std::string name = std::filesystem::temp_directory_path() / "jobman-ssh-XXXXXX";
  if (!mkdtemp(name.data())) ADD_FAILURE() << "mkdtemp failed";
  path = name;
}

TempDir::~TempDir() {
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

int UnusedPort(const std::string& address) {
  const base::UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in where = Address(address, 0);
  void* raw = &where;
  socklen_t size = sizeof where;
  if (bind(fd.get(), static_cast<sockaddr*>(raw), size) != 0 ||
      getsockname(fd.get(), static_cast<sockaddr*>(raw), &size) != 0)
    ADD_FAILURE() << "no port on " << address;
  return ntohs(where.sin_port);
}

std::string LoginName() {
  const passwd* entry = getpwuid(geteuid());
  return entry != nullptr ? entry->pw_name : "";
}

int RunProgram(const std::vector<std::string>& argv) {
  int status = 0;
  waitpid(Spawn(argv, "/dev/null"), &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::string TestSshd::Missing() {
  return access(kSshd, X_OK) == 0 ? "" : "no OpenSSH server at /usr/sbin/sshd";
}

TestSshd::TestSshd(std::vector<std::string> extra_config)
    : extra_config_(std::move(extra_config)),
      address_(fmt::format("127.0.{}.{}", getpid() % 200 + 1, getpid() / 200 % 200 + 1)) {
  // Otherwise made by the system's service.
  if (geteuid() == 0) std::filesystem::create_directories("/run/sshd");
  Authorize(EnsureKey(dir_.path / "client_key").value_or(""));
  EXPECT_TRUE(EnsureKey(dir_.path / "host_key").ok());
  port_ = UnusedPort(address_);
  Start();
}

TestSshd::~TestSshd() {
  Kill();
}

void TestSshd::Start() {
  std::string config = fmt::format(
      "ListenAddress {0}:{1}\nHostKey {2}/host_key\nAuthorizedKeysFile {2}/authorized_keys\n"
      "PidFile none\nStrictModes no\nUsePAM no\nPasswordAuthentication no\n"
      "PermitRootLogin yes\nMaxStartups 500\nPerSourceMaxStartups none\nLogLevel ERROR\n",
      address_, port_, dir_.path.string());
  for (const auto& line : extra_config_) config += line + "\n";
  EXPECT_TRUE(base::WriteFileAtomic(dir_.path / "sshd_config", config).ok());
  pid_ = Spawn({kSshd, "-D", "-e", "-f", dir_.path / "sshd_config"}, dir_.path / "sshd.log");
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{60};
  while (!Answers(address_, port_)) {
    if (std::chrono::steady_clock::now() > deadline || waitpid(pid_, nullptr, WNOHANG) != 0) {
      ADD_FAILURE() << "sshd: " << base::ReadFile(dir_.path / "sshd.log").value_or("");
      return;
    }
    poll(nullptr, 0, 5);
  }
}

void TestSshd::Kill() {
  if (pid_ <= 0) return;
  KillTree(pid_);
  waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

void TestSshd::KillConnections() {
  for (const pid_t child : ChildrenOf(pid_)) KillTree(child);
}

void TestSshd::RestartWithNewHostKey() {
  Kill();
  std::filesystem::remove(dir_.path / "host_key");
  std::filesystem::remove(dir_.path / "host_key.pub");
  EXPECT_TRUE(EnsureKey(dir_.path / "host_key").ok());
  Start();
}

void TestSshd::Authorize(const std::string& public_key) {
  const base::Path file = dir_.path / "authorized_keys";
  const std::string before = base::ReadFile(file).value_or("");
  EXPECT_TRUE(base::WriteFileAtomic(file, before + public_key + "\n").ok());
}

ports::HostTarget TestSshd::Target() const {
  return {.address = address_,
          .port = port_,
          .user = LoginName(),
          .private_key = dir_.path / "client_key",
          .identity = "node-1/0"};
}

std::string TestSshd::HostKey() const {
  const std::string line = PublicKeyLine(dir_.path / "host_key").value_or("");
  return line.substr(0, line.rfind(' '));
}

}  // namespace jobman::ssh
