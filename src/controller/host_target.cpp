#include "jobman/controller/host_target.hpp"

namespace jobman::controller {

ports::HostTarget TargetOf(const core::Job& job, int host, int default_port) {
  const core::HostAddress& address = job.slice->hosts[static_cast<std::size_t>(host)];
  const core::HostPosition position = core::PositionOf(*job.slice, host);
  const bool external = job.spec.tpu.external_ips && !address.external.empty();
  return {.address = external ? address.external : address.internal,
          .port = job.spec.ssh.port != 0 ? job.spec.ssh.port : default_port,
          .user = job.spec.ssh.user,
          .private_key = job.spec.ssh.private_key,
          .identity = position.node_uid + "/" + std::to_string(position.host),
          .strict = job.spec.ssh.host_keys == core::HostKeyRule::kStrict,
          .forward_agent = job.spec.ssh.agent_forwarding};
}

bool SaysNothingOfKeys(const base::Error& error) {
  return error.code == base::Code::kUnavailable || error.code == base::Code::kDeadlineExceeded ||
         error.code == base::Code::kResourceExhausted || error.reason == base::Reason::kNoToken;
}

}  // namespace jobman::controller
