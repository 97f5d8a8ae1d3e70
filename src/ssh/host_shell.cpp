#include "jobman/ssh/host_shell.hpp"

#include <libssh/libssh.h>

#include "jobman/ssh/ssh_library.hpp"
#include "ssh/session_pool.hpp"

namespace jobman::ssh {

SshHostShell::SshHostShell(asio::any_io_executor executor, ports::HostKeyStore& host_keys,
                           SshOptions options)
    : pool_(std::make_shared<SessionPool>(std::move(executor), host_keys, std::move(options))) {}

SshHostShell::~SshHostShell() {
  pool_->Close();
}

ports::Task<ports::Result<int>> SshHostShell::Run(ports::SharedTarget target,
                                                  ports::RemoteCommand command, ports::ByteSink out,
                                                  ports::ByteSink err) {
  return SessionPool::Run(pool_, std::move(target), std::move(command), std::move(out),
                          std::move(err));
}

ports::Task<ports::Status> SshHostShell::Relay(ports::SharedTarget target, int port,
                                               std::shared_ptr<base::UniqueFd> local) {
  return SessionPool::Relay(pool_, std::move(target), port, std::move(local));
}

void SshHostShell::Drop(const ports::HostTarget& target) {
  pool_->Drop(target.identity);
}

int SshHostShell::sessions() const {
  return pool_->sessions();
}

std::string LibsshVersion() {
  return OpenSshLibrary().ok() ? ssh_version(0) : "not installed";
}

}  // namespace jobman::ssh
