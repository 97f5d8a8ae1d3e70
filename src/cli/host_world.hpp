#pragma once

#include <asio/io_context.hpp>
#include <memory>

#include "jobman/base/state_paths.hpp"
#include "jobman/cloud/cloud.hpp"
#include "jobman/controller/controller.hpp"
#include "jobman/notify/notifier.hpp"
#include "jobman/ssh/host_shell.hpp"

namespace jobman::cli {

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
  ControllerWorld(asio::io_context& loop, base::StatePaths paths, ports::Stores stores);
  controller::Ports Get();

 private:
  asio::io_context& loop_;
  base::StatePaths paths_;
  ports::Stores stores_;
  base::SystemClock clock_ = {};
  ssh::SshHostShell shell_;
  std::unique_ptr<http::Transport> transport_ = {};  ///< of hooks: logs nothing
  std::unique_ptr<http::Mailer> mailer_ = {};
  std::unique_ptr<notify::HookNotifier> notifier_ = {};
};

}  // namespace jobman::cli
