#include "controller/host_access.hpp"

#include "jobman/base/log.hpp"

namespace jobman::controller {
namespace {

constexpr int kTries = 5;  // guest attributes appear some seconds after READY
constexpr base::Duration kBetweenTries = std::chrono::seconds{1};
constexpr base::Duration kSilence = std::chrono::seconds{5};

bool IsNoAnswer(const base::Error& error) {
  return error.code == base::Code::kUnavailable || error.code == base::Code::kDeadlineExceeded;
}

}  // namespace

ports::HostTarget HostAccess::PlainTarget(const core::Job& job, int host) const {
  const core::HostAddress& address = job.slice->hosts[static_cast<std::size_t>(host)];
  const core::HostPosition position = core::PositionOf(*job.slice, host);
  const bool external = job.spec.tpu.external_ips && !address.external.empty();
  return {.address = external ? address.external : address.internal,
          .port = job.spec.ssh.port != 0 ? job.spec.ssh.port : world_.ssh_port(job.spec.cloud),
          .user = job.spec.ssh.user,
          .private_key = job.spec.ssh.private_key,
          .identity = position.node_uid + "/" + std::to_string(position.host)};
}

base::Task<ports::HostTarget> HostAccess::TargetOf(std::shared_ptr<const core::Job> job, int host) {
  ports::HostTarget target = PlainTarget(*job, host);
  const core::HostPosition position = core::PositionOf(*job->slice, host);
  const std::string& uid = position.node_uid;
  for (;;) {
    Known& known = keys_[uid];
    const auto found = known.keys.find(position.host);
    if (found != known.keys.end()) {
      target.vouched_keys = found->second;
      target.first_sight = true;
      co_return target;
    }
    const bool asking = !known.turn.expired();
    // A pinned host needs no word of the cloud; one that is new waits for it.
    target.first_sight = world_.clock->Now() >= known.silent_until;
    if (!asking && !target.first_sight) co_return target;
    if (!asking && known.tries >= kTries) co_return target;
    if (!asking) {
      co_await Ask(job, position);
      if (keys_[uid].keys.contains(position.host)) continue;
    }
    const bool last = keys_[uid].tries >= kTries;
    co_await base::Sleep(last || asking ? std::chrono::milliseconds{20} : kBetweenTries);
  }
}

base::Task<void> HostAccess::Ask(std::shared_ptr<const core::Job> job,
                                 core::HostPosition position) {
  const std::string& node_uid = position.node_uid;
  const auto turn = std::make_shared<int>();
  keys_[node_uid].turn = turn;
  const auto silent = [&] { keys_[node_uid].silent_until = world_.clock->Now() + kSilence; };
  const auto cloud = clouds_.Get(job->spec.cloud);
  if (!cloud.ok()) co_return silent();
  const auto api = *cloud;  // NOLINT(performance-unnecessary-copy-initialization): outlives a wait
  const auto answer = co_await api->GetHostKeys(job->slice->ref.place, position.node_id);
  if (!answer.ok()) {
    base::Log(base::LogLevel::kDebug, "ssh", "no host keys of node {} yet: {}", position.node_id,
              answer.error().ToString());
    if (IsNoAnswer(answer.error())) co_return silent();
  }
  ++keys_[node_uid].tries;
  if (!answer.ok()) co_return;
  for (const core::HostKeys& keys : *answer) {
    if (!keys.keys.empty()) keys_[node_uid].keys[keys.host] = keys.keys;
  }
}

}  // namespace jobman::controller
