#include "jobman/controller/host_target.hpp"

namespace jobman::controller {

ports::HostTarget TargetOf(const core::Job& job, int host, int default_port) {
  const core::HostAddress& address = job.slice->hosts[static_cast<std::size_t>(host)];
  const core::HostPosition position = core::PositionOf(*job.slice, host);
  const core::SshSpec& ssh = job.spec.ssh;
  return {.address = core::ChosenAddress(address, job.spec),
          .port = ssh.port != 0 ? ssh.port : default_port,
          .user = ssh.user,
          .private_key = ssh.private_key,
          .identity = position.node_uid + "/" + std::to_string(position.host),
          .strict = ssh.host_keys == core::HostKeyRule::kStrict,
          .forward_agent = ssh.agent_forwarding,
          .proxy_jump = ssh.proxy_jump,
          .proxy_command = ssh.proxy_command};
}

bool SaysNothingOfKeys(const base::Error& error) {
  return error.code == base::Code::kUnavailable || error.code == base::Code::kDeadlineExceeded ||
         error.code == base::Code::kResourceExhausted || error.reason == base::Reason::kNoToken;
}

}  // namespace jobman::controller
