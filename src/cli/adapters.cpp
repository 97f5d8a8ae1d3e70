#include "cli/adapters.hpp"

#include <asio/this_coro.hpp>

#include "jobman/base/env.hpp"
#include "jobman/base/process.hpp"
#include "jobman/client/host_target.hpp"
#include "jobman/client/local_cloud.hpp"
#include "jobman/cloud/billing_api.hpp"
#include "jobman/cloud/bucket_list.hpp"
#include "jobman/cloud/cloud.hpp"
#include "jobman/cloud/compute_api.hpp"
#include "jobman/cloud/look.hpp"
#include "jobman/cloud/oslogin_api.hpp"
#include "jobman/cloud/quota_api.hpp"
#include "jobman/cloud/storage_api.hpp"
#include "jobman/controller/shell_server.hpp"
#include "jobman/http/curl_transport.hpp"
#include "jobman/ssh/file_limit.hpp"
#include "jobman/ssh/host_shell.hpp"
#include "jobman/store/disk.hpp"
#include "jobman/store/site.hpp"
#include "jobman/store/sqlite_store.hpp"

namespace jobman::cli {
namespace {

/// OpenCloud() in the form that a controller needs.
base::Task<base::Result<std::shared_ptr<ports::SliceApi>>> OpenSlices(base::StatePaths paths,
                                                                      core::CloudSpec spec) {
  JM_CO_ASSIGN_OR_RETURN(auto opened, co_await OpenCloud(std::move(paths), std::move(spec)));
  co_return std::move(opened.slices);
}

/// Beside this program, else on PATH.
base::Path SimulatorProgram() {
  const base::Path beside = base::SelfExe().parent_path() / "jobman-sim";
  return std::filesystem::exists(beside) ? beside : base::Path{"jobman-sim"};
}

base::Result<std::shared_ptr<ports::ProjectApi>> OpenProjects(asio::any_io_executor executor,
                                                              const core::CloudSpec& spec) {
  JM_ASSIGN_OR_RETURN(std::shared_ptr<ports::ProjectApi> projects,
                      cloud::MakeProjects(std::move(executor), spec));
  return projects;
}

base::Result<std::shared_ptr<ports::LoginApi>> OpenLogins(asio::any_io_executor executor,
                                                          const core::CloudSpec& spec) {
  JM_ASSIGN_OR_RETURN(std::shared_ptr<ports::LoginApi> logins,
                      cloud::MakeLogins(std::move(executor), spec));
  return logins;
}

base::Result<std::shared_ptr<ports::QuotaApi>> OpenQuotas(asio::any_io_executor executor,
                                                          const core::CloudSpec& spec) {
  JM_ASSIGN_OR_RETURN(std::shared_ptr<ports::QuotaApi> quotas,
                      cloud::MakeQuotas(std::move(executor), spec));
  return quotas;
}

base::Result<std::shared_ptr<ports::BucketList>> OpenBucketList(asio::any_io_executor executor,
                                                                const core::CloudSpec& spec) {
  JM_ASSIGN_OR_RETURN(std::shared_ptr<ports::BucketList> buckets,
                      cloud::MakeBucketList(std::move(executor), spec));
  return buckets;
}

base::Result<std::shared_ptr<ports::BucketSizes>> OpenBucketSizes(asio::any_io_executor executor,
                                                                  const core::CloudSpec& spec) {
  JM_ASSIGN_OR_RETURN(std::shared_ptr<ports::BucketSizes> sizes,
                      cloud::MakeBucketSizes(std::move(executor), spec));
  return sizes;
}

base::Result<std::shared_ptr<ports::BillingApi>> OpenBilling(asio::any_io_executor executor,
                                                             const core::CloudSpec& spec) {
  JM_ASSIGN_OR_RETURN(std::shared_ptr<ports::BillingApi> billing,
                      cloud::MakeBilling(std::move(executor), spec));
  return billing;
}

constexpr std::size_t kMostIdle = 2048;
/// The controller's: its connections serve jobs and other commands.
std::unique_ptr<ports::HostShell> OpenLastingShell(asio::any_io_executor executor,
                                                   ports::HostKeyStore& host_keys) {
  return std::make_unique<ssh::SshHostShell>(std::move(executor), host_keys,
                                             LastingOptions(ssh::RaiseFileLimit()));
}

}  // namespace

ssh::SshOptions LastingOptions(std::int64_t file_limit) {
  ssh::SshOptions options;
  options.longest_idle = kLongestIdle;
  options.most_idle = kMostIdle;
  const std::int64_t streams = controller::ShellServer::MostStreams(file_limit);
  options.most_connections = ssh::HostsWithin(file_limit - streams);
  return options;
}

base::Result<ports::Stores> OpenStore(const base::StatePaths& paths, client::StoreUse use) {
  const bool write = use == client::StoreUse::kWrite;
  if (write) JM_TRY(base::EnsureDir(paths.StoreDir()));
  const auto mode = write ? store::OpenMode::kReadWrite : store::OpenMode::kReadOnly;
  JM_ASSIGN_OR_RETURN(std::shared_ptr<store::SqliteStore> store,
                      store::SqliteStore::Open(paths.StoreDir(), mode));
  return ports::StoresOf(std::move(store));
}

base::Task<base::Result<client::CloudClient>> OpenCloud(base::StatePaths paths,
                                                        core::CloudSpec spec) {
  cloud::CloudOptions options;
  if (spec.endpoint == client::kLocal) {
    base::Path simulator = SimulatorProgram();
    JM_CO_ASSIGN_OR_RETURN(
        const auto local, co_await client::StartLocalCloud(std::move(paths), std::move(simulator)));
    spec.endpoint = local.endpoint;
    options.token = local.token;  // no real credential goes to a simulator
  }
  const auto executor = co_await asio::this_coro::executor;
  JM_CO_ASSIGN_OR_RETURN(auto opened,
                         cloud::MakeCloud(executor, std::move(spec), std::move(options)));
  const std::shared_ptr<cloud::Cloud> whole = std::move(opened);
  client::CloudClient parts;
  parts.slices = {whole, &whole->slices()};
  parts.catalog = {whole, &whole->catalog()};
  parts.maintenance = {whole, &whole->maintenance()};
  co_return parts;
}

base::Result<std::shared_ptr<ports::BucketApi>> OpenBuckets(asio::any_io_executor executor,
                                                            const core::CloudSpec& spec) {
  JM_ASSIGN_OR_RETURN(std::shared_ptr<ports::BucketApi> buckets,
                      cloud::MakeBuckets(std::move(executor), spec));
  return buckets;
}

std::unique_ptr<ports::HostShell> OpenShell(asio::any_io_executor executor,
                                            ports::HostKeyStore& host_keys) {
  ssh::SshOptions options;
  options.most_connections = ssh::HostsAtOnce();
  return std::make_unique<ssh::SshHostShell>(std::move(executor), host_keys, std::move(options));
}

base::Result<pid_t> StartController(const base::StatePaths& paths, bool verbose) {
  std::vector<std::string> argv = {
      base::SelfExe().string(), "--home", paths.home.string(), "controller", "run", "--background"};
  if (verbose) argv.emplace_back("--verbose");
  return base::StartDaemon(argv, paths.ControllerLog());
}

core::Site LookAtSite(const base::StatePaths& paths) {
  return store::LookAtSite(paths.StoreDir());
}

client::Probes MakeProbes() {
  client::Probes probes;
  probes.log_in = [](core::CloudSpec spec) { return cloud::LogIn(std::move(spec)); };
  probes.server_time = [](core::CloudSpec spec) { return cloud::ServerTime(std::move(spec)); };
  probes.open_projects = OpenProjects;
  probes.open_logins = OpenLogins;
  probes.open_quotas = OpenQuotas;
  probes.open_billing = OpenBilling;
  probes.open_bucket_list = OpenBucketList;
  probes.open_bucket_sizes = OpenBucketSizes;
  probes.look_at_disk = [](const base::Path& folder) {
    const store::Disk disk = store::LookAtDisk(folder);
    return client::Disk{.type = disk.type, .locks_stay_here = disk.locks_stay_here};
  };
  probes.versions = [] {
    return std::vector<std::pair<std::string, std::string>>{{"jobman", JOBMAN_VERSION},
                                                            {"libcurl", http::CurlVersion()},
                                                            {"libssh", ssh::LibsshVersion()},
                                                            {"SQLite", store::SqliteVersion()}};
  };
  return probes;
}

ControllerAdapters::ControllerAdapters(asio::io_context& loop, base::StatePaths paths,
                                       ports::Stores stores)
    : paths_(std::move(paths)),
      ssh_ports_(paths_),
      stores_(std::move(stores)),
      shell_(OpenLastingShell(loop.get_executor(), *stores_.host_keys)) {
  auto transport = http::MakeCurlTransport(loop.get_executor());
  auto mailer = http::MakeCurlMailer(loop.get_executor());
  if (!transport.ok() || !mailer.ok()) return;  // the cloud's client reports what is wrong
  transport_ = std::move(transport).value();
  mailer_ = std::move(mailer).value();
  notifier_ = std::make_unique<notify::HookNotifier>(*transport_, *mailer_, base::GetEnv);
}

controller::Ports ControllerAdapters::Get() {
  controller::Ports ports;
  ports.stores = stores_;
  ports.shell = shell_.get();
  ports.clock = &clock_;
  ports.queue_files = &queue_files_;
  ports.notifier = notifier_.get();
  ports.open_cloud = [this](core::CloudSpec spec) { return OpenSlices(paths_, std::move(spec)); };
  ports.public_key = [](const std::string& key) { return ssh::EnsureKey(key); };
  ports.read_public_key = [](const std::string& key) { return ssh::PublicKeyLine(key); };
  ports.ssh_port = [this](const core::CloudSpec& spec) { return ssh_ports_.Of(spec); };
  ports.get_env = base::GetEnv;
  return ports;
}

}  // namespace jobman::cli
