#include "ssh/agent.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "jobman/base/off_loop.hpp"

namespace jobman::ssh {

using base::UniqueFd;

UniqueFd ConnectToSocket(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return {};
  std::memcpy(address.sun_path, path.c_str(), path.size());
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const auto* const where = reinterpret_cast<const sockaddr*>(&address);
  if (!fd) return {};
  if (::connect(fd.get(), where, sizeof address) == 0) return fd;
  const int why = errno;
  fd.Reset();
  errno = why;
  return {};
}

base::Result<std::shared_ptr<const Agent>> ConnectToAgent(const Session& session,
                                                          const std::string& path) {
  std::shared_ptr<const Agent> agent;
  UniqueFd socket = ConnectToSocket(path);
  // EAGAIN: so many connections wait that it must hang.
  if (!socket && errno == EAGAIN) return AgentSilent(session.endpoint(), path);
  if (!socket) return agent;
  // libssh closes the socket it gets; a duplicate can still shut it down.
  UniqueFd ours(::fcntl(socket.get(), F_DUPFD_CLOEXEC, 3));
  if (!ours || ssh_set_agent_socket(session.raw(), socket.get()) != SSH_OK) return agent;
  socket.Release();
  agent = std::make_shared<Agent>(Agent{.path = path, .socket = std::move(ours)});
  return agent;
}

Task<base::Result<int>> AskAgent(std::shared_ptr<Session> session,
                                 std::shared_ptr<const Agent> agent, Deadline deadline) {
  int code = SSH_AUTH_ERROR;
  const std::function<void()> ask = [&code, raw = session->raw()] {
    code = ssh_userauth_agent(raw, nullptr);
  };
  const std::function<void()> hang_up = [fd = agent->socket.get()] { ::shutdown(fd, SHUT_RDWR); };
  const auto left = std::chrono::ceil<base::Duration>(deadline - std::chrono::steady_clock::now());
  const base::Duration limit = std::max(base::Duration{0}, left);
  JM_CO_ASSIGN_OR_RETURN(const bool answered, co_await base::RunOffLoop(ask, hang_up, limit));
  if (!answered) co_return AgentSilent(session->endpoint(), agent->path);
  co_return code;
}

}  // namespace jobman::ssh
