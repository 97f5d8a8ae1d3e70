#pragma once

#include <asio/io_context.hpp>
#include <memory>

#include "jobman/base/state_paths.hpp"
#include "jobman/cloud/cloud.hpp"
#include "jobman/controller/controller.hpp"
#include "jobman/notify/notifier.hpp"
#include "jobman/ssh/host_shell.hpp"
#include "jobman/ssh/known_hosts.hpp"

namespace jobman::cli {

/// Pins of host keys, in the store.
class StoredKnownHosts final : public ssh::KnownHosts {
 public:
  explicit StoredKnownHosts(ports::Store& store) : store_(store) {}
  base::Result<std::optional<std::string>> Find(const std::string& identity) override {
    return store_.PinnedKey(identity);
  }
  base::Status Pin(const std::string& identity, const std::string& key) override {
    return store_.PinKey(identity, key);
  }

 private:
  ports::Store& store_;
};

/// A client of the cloud that a job names; `local` is started when it does not run.
base::Result<std::unique_ptr<cloud::Cloud>> OpenCloud(asio::io_context& loop,
                                                      const base::StatePaths& paths,
                                                      core::CloudSpec spec,
                                                      cloud::CloudOptions options = {});
/// The SSH port for a job that leaves it open: the local simulator's, else 22.
int SshPort(const base::StatePaths& paths, const core::CloudSpec& spec);
/// Where and how to log in to host number `host` of the job's slice.
base::Result<ports::HostTarget> TargetOf(const base::StatePaths& paths, const core::Job& job,
                                         int host);

/// The world of a controller: everything real, composed.
class ControllerWorld {
 public:
  ControllerWorld(asio::io_context& loop, base::StatePaths paths, ports::Store& store);
  controller::World Get();

 private:
  asio::io_context& loop_;
  base::StatePaths paths_;
  ports::Store& store_;
  base::SystemClock clock_ = {};
  StoredKnownHosts known_hosts_;
  ssh::SshHostShell shell_;
  std::unique_ptr<http::Transport> transport_ = {};  ///< of hooks: logs nothing
  std::unique_ptr<http::Mailer> mailer_ = {};
  std::unique_ptr<notify::HookNotifier> notifier_ = {};
};

}  // namespace jobman::cli
