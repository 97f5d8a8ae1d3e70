#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "cli/queue_files.hpp"
#include "jobman/client/context.hpp"
#include "jobman/client/host_target.hpp"
#include "jobman/client/probes.hpp"
#include "jobman/controller/controller.hpp"
#include "jobman/notify/notifier.hpp"
#include "jobman/ssh/host_shell.hpp"

namespace jobman::cli {

// The implementations of the ports in this program: SQLite, the Cloud TPU API, SSH.

/// The store in StatePaths::StoreDir().
base::Result<ports::Stores> OpenStore(const base::StatePaths& paths, client::StoreUse use);
/// See client::CloudOpener.
base::Task<base::Result<client::CloudClient>> OpenCloud(base::StatePaths paths,
                                                        core::CloudSpec spec);
/// See client::BucketOpener.
base::Result<std::shared_ptr<ports::BucketApi>> OpenBuckets(asio::any_io_executor executor,
                                                            const core::CloudSpec& spec);
/// See client::ShellOpener.
std::unique_ptr<ports::HostShell> OpenShell(asio::any_io_executor executor,
                                            ports::HostKeyStore& host_keys);

/// How long a controller keeps a connection that nothing uses: for who runs one command after the
/// other.
constexpr base::Duration kLongestIdle = std::chrono::minutes{5};

/// Of the shell of a controller that may open so many files: of its descriptors, one for each
/// command that it runs for another process, those of connections to hosts, and what HostsWithin()
/// leaves for all else.
ssh::SshOptions LastingOptions(std::int64_t file_limit);

/// See client::ControllerStarter.
base::Result<pid_t> StartController(const base::StatePaths& paths, bool verbose);

/// See client::SiteLooker.
core::Site LookAtSite(const base::StatePaths& paths);

/// See client::Probes.
client::Probes MakeProbes();

/// Everything that a controller needs.
class ControllerAdapters {
 public:
  ControllerAdapters(asio::io_context& loop, base::StatePaths paths, ports::Stores stores);
  controller::Ports Get();

 private:
  base::StatePaths paths_;
  client::SshPorts ssh_ports_;
  ports::Stores stores_;
  base::SystemClock clock_ = {};
  LocalQueueFiles queue_files_ = {};
  std::unique_ptr<ports::HostShell> shell_;
  std::unique_ptr<http::Transport> transport_ = {};  ///< for hooks; does not log
  std::unique_ptr<http::Mailer> mailer_ = {};
  std::unique_ptr<notify::HookNotifier> notifier_ = {};
};

}  // namespace jobman::cli
