#include "jobman/client/host_target.hpp"

#include <asio/this_coro.hpp>

#include "jobman/client/local_cloud.hpp"
#include "jobman/controller/host_target.hpp"
#include "jobman/remote/host_script.hpp"

namespace jobman::client {

int SshPort(const base::StatePaths& paths, const core::CloudSpec& spec) {
  if (spec.endpoint != kLocal) return 22;
  const auto local = FindLocalCloud(paths);
  return local ? local->ssh_port : 22;
}

int SshPorts::Of(const core::CloudSpec& spec) {
  if (spec.endpoint != kLocal) return SshPort(paths_, spec);
  const auto now = SteadyClock::now();
  if (!local_ || now - looked_at_ >= good_for_) {
    local_ = SshPort(paths_, spec);
    looked_at_ = now;
  }
  return *local_;
}

base::Result<ports::HostTarget> TargetOf(const base::StatePaths& paths, const core::Job& job,
                                         int host) {
  const auto count = job.slice ? static_cast<int>(job.slice->hosts.size()) : 0;
  const std::string id = core::FormatJobId(job.id);
  if (count == 0 && core::IsFinal(job.state)) {
    return base::Error{.code = base::Code::kFailedPrecondition,
                       .message = "job " + id + " is over and has no hosts any more",
                       .hint = "jobman resume " + id + " runs it again"};
  }
  if (count == 0) {
    return base::Error{
        .code = base::Code::kUnavailable,
        .message = "job " + id + " has no hosts yet",
        .hint = "try again when it has: jobman why " + id + " shows what it waits for"};
  }
  if (host < 0 || host >= count) {
    return base::NotFound("job " + id + " has " + core::HostsText(count) + ", not " +
                          std::to_string(host));
  }
  return controller::TargetOf(job, host, SshPort(paths, job.spec.cloud));
}

base::Task<base::Result<std::optional<std::string>>> HostKeyOf(Context context,
                                                               ports::HostTarget target) {
  ports::HostKeyStore& host_keys = *context.stores.host_keys;
  JM_CO_ASSIGN_OR_RETURN(auto pinned, co_await host_keys.PinnedKey(target.identity));
  if (pinned || !target.vouched_keys.empty()) co_return pinned;
  const auto executor = co_await asio::this_coro::executor;
  const auto shell = context.open_shell(executor, host_keys);
  const ports::RemoteCommand nothing{.command = "true", .limit = remote::kCallLimit};
  const ports::ByteSink unread;
  JM_CO_TRY(co_await shell->Run(target, nothing, unread, unread));
  co_return co_await host_keys.PinnedKey(target.identity);
}

}  // namespace jobman::client
