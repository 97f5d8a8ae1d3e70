#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "jobman/base/clock.hpp"
#include "jobman/base/random.hpp"
#include "jobman/base/state_paths.hpp"
#include "jobman/base/task.hpp"
#include "jobman/core/reconcile.hpp"
#include "jobman/ports/host_shell.hpp"
#include "jobman/ports/notifier.hpp"
#include "jobman/ports/slice_api.hpp"
#include "jobman/ports/stores.hpp"

namespace jobman::controller {

/// All that a controller reaches the outside by. It must outlive the controller.
struct Ports {
  ports::Stores stores = {};
  ports::HostShell* shell = nullptr;
  base::Clock* clock = nullptr;
  /// Tells hooks; without one deliveries stay in the outbox.
  ports::Notifier* notifier = nullptr;
  /// The client of a cloud; called once per distinct CloudSpec, and again after the cloud could
  /// not be reached (a local simulator may have come back on another port). May take its time, when
  /// a simulator must be started first.
  std::function<base::Task<base::Result<std::shared_ptr<ports::SliceApi>>>(core::CloudSpec)>
      open_cloud;
  /// The public key line of a private key, which is made when it is missing.
  std::function<base::Result<std::string>(const std::string& private_key)> public_key;
  /// The SSH port for a job whose `ssh.port` is 0.
  std::function<int(const core::CloudSpec&)> ssh_port;
  /// A local environment variable, for secrets.
  std::function<std::optional<std::string>(const std::string& name)> get_env;
  /// In [0, 1): the jitter of waits.
  std::function<double()> random = base::RandomUnit;
};

/// Settings. Durations are wall time.
struct Options {
  base::StatePaths paths = {};
  core::Policy policy = {};  ///< store_id is filled in by the controller
  base::Duration hot_poll = std::chrono::milliseconds{100};  ///< first wait after something changed
  base::Duration lease_time = std::chrono::seconds{15};
  /// A host that the cloud calls READY but that cannot be reached this long is lost.
  base::Duration unreachable_limit = std::chrono::minutes{5};
  /// Ends when nothing needed care for this long; without it, never.
  std::optional<base::Duration> idle_exit = {};
};

/// The one loop: observes the cloud and the hosts, lets core::Reconcile decide, records, acts.
/// Everything runs on the thread of `loop`. Several controllers may exist; one holds the lease.
/// When it is destroyed, everything it does on the loop ends: a Run() or Tick() that goes on then
/// is kCancelled, and no port is used any more.
class Controller {
 public:
  Controller(asio::io_context& loop, Ports ports, Options options);
  ~Controller();

  /// Runs until Stop(), until nothing needs care (Options::idle_exit), or until the lease is lost
  /// (kLeaseLost). kAborted at once when another controller holds the lease; `hint` names it.
  base::Task<base::Status> Run();
  /// One pass over everything that is due, for cron: returns when all is quiet, after `bound`, or
  /// when a nudge tells that somebody wants a controller that stays. Another controller holding the
  /// lease is no error: it does the work.
  base::Task<base::Status> Tick(base::Duration bound);
  /// Ends Run() soon: remote runs go on, the lease is given back. Safe in a signal handler of Asio.
  void Stop();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// "host:boot/pidns:pid:start:random": who holds a lease, so that a dead holder on this machine is
/// told from one on another, or in another container. `passing`: it will soon be gone, a Tick().
std::string LeaseHolder(bool passing = false);
/// The number of its process, on its own machine and in its own pid namespace; nothing when the
/// holder was not written by LeaseHolder().
std::optional<std::int64_t> HolderPid(const std::string& holder);
/// Whether the holder is a Tick(), which makes room when it is nudged.
bool IsPassing(const std::string& holder);
/// Whether the holder surely is a process of this machine that no longer lives. Of one in another
/// pid namespace nobody knows before its lease is over.
bool HolderIsDead(const std::string& holder);

}  // namespace jobman::controller
