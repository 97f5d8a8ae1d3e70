#include "cli/host_world.hpp"

#include "cli/local_cloud.hpp"
#include "jobman/base/env.hpp"
#include "jobman/http/curl_transport.hpp"
#include "jobman/ssh/keys.hpp"

namespace jobman::cli {
namespace {

constexpr const char* kLocal = "local";

/// OpenCloud() for a controller, which must not block while a simulator starts.
base::Task<base::Result<std::shared_ptr<ports::SliceApi>>> OpenSlices(asio::io_context* loop,
                                                                      base::StatePaths paths,
                                                                      core::CloudSpec spec) {
  if (spec.endpoint == kLocal) {
    JM_CO_ASSIGN_OR_RETURN(const LocalCloud local, co_await StartLocalCloud(paths));
    spec.endpoint = local.endpoint;
  }
  JM_CO_ASSIGN_OR_RETURN(auto opened, cloud::MakeCloud(loop->get_executor(), std::move(spec), {}));
  const std::shared_ptr<cloud::Cloud> whole = std::move(opened);
  co_return std::shared_ptr<ports::SliceApi>(whole, &whole->slices());
}

}  // namespace

base::Result<std::unique_ptr<cloud::Cloud>> OpenCloud(asio::io_context& loop,
                                                      const base::StatePaths& paths,
                                                      core::CloudSpec spec,
                                                      cloud::CloudOptions options) {
  if (spec.endpoint == kLocal) {
    JM_ASSIGN_OR_RETURN(const LocalCloud local, EnsureLocalCloud(paths));
    spec.endpoint = local.endpoint;
  }
  return cloud::MakeCloud(loop.get_executor(), std::move(spec), std::move(options));
}

int SshPort(const base::StatePaths& paths, const core::CloudSpec& spec) {
  if (spec.endpoint != kLocal) return 22;
  const auto local = FindLocalCloud(paths);
  return local ? local->ssh_port : 22;
}

base::Result<ports::HostTarget> TargetOf(const base::StatePaths& paths, const core::Job& job,
                                         int host) {
  const auto count = job.slice ? static_cast<int>(job.slice->hosts.size()) : 0;
  if (host < 0 || host >= count) {
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
          .hint = "try again when it has: jobman why " + id + " tells what it waits for"};
    }
    return base::NotFound("job " + id + " has hosts 0-" + std::to_string(count - 1) + ", not " +
                          std::to_string(host));
  }
  const core::HostAddress& address = job.slice->hosts[static_cast<std::size_t>(host)];
  const core::HostPosition position = core::PositionOf(*job.slice, host);
  const bool external = job.spec.tpu.external_ips && !address.external.empty();
  return ports::HostTarget{
      .address = external ? address.external : address.internal,
      .port = job.spec.ssh.port != 0 ? job.spec.ssh.port : SshPort(paths, job.spec.cloud),
      .user = job.spec.ssh.user,
      .private_key = job.spec.ssh.private_key,
      .identity = position.node_uid + "/" + std::to_string(position.host)};
}

ControllerWorld::ControllerWorld(asio::io_context& loop, base::StatePaths paths,
                                 ports::Stores stores)
    : loop_(loop),
      paths_(std::move(paths)),
      stores_(std::move(stores)),
      shell_(loop.get_executor(), *stores_.host_keys) {
  auto transport = http::MakeCurlTransport(loop.get_executor());
  auto mailer = http::MakeCurlMailer(loop.get_executor());
  if (!transport.ok() || !mailer.ok()) return;  // the cloud's client says what is wrong
  transport_ = std::move(transport).value();
  mailer_ = std::move(mailer).value();
  notifier_ = std::make_unique<notify::HookNotifier>(*transport_, *mailer_, base::GetEnv);
}

controller::Ports ControllerWorld::Get() {
  controller::Ports ports;
  ports.stores = stores_;
  ports.shell = &shell_;
  ports.clock = &clock_;
  ports.notifier = notifier_.get();
  ports.open_cloud = [this](core::CloudSpec spec) {
    return OpenSlices(&loop_, paths_, std::move(spec));
  };
  ports.public_key = [](const std::string& key) { return ssh::EnsureKey(key); };
  ports.ssh_port = [this](const core::CloudSpec& spec) { return SshPort(paths_, spec); };
  ports.get_env = base::GetEnv;
  return ports;
}

}  // namespace jobman::cli
