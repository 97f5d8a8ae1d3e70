#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "jobman/base/clock.hpp"
#include "jobman/base/random.hpp"
#include "jobman/base/state_paths.hpp"
#include "jobman/base/task.hpp"
#include "jobman/controller/times.hpp"
#include "jobman/core/reconcile.hpp"
#include "jobman/ports/host_shell.hpp"
#include "jobman/ports/notifier.hpp"
#include "jobman/ports/queue_files.hpp"
#include "jobman/ports/slice_api.hpp"
#include "jobman/ports/stores.hpp"

namespace jobman::controller {

/// All that a controller reaches the outside by. It must outlive the controller.
struct Ports {
  ports::Stores stores = {};
  ports::HostShell* shell = nullptr;
  base::Clock* clock = nullptr;
  /// Queue files of workers; without it they are not read.
  ports::QueueFiles* queue_files = nullptr;
  /// Delivers hook events; without it they stay in the outbox.
  ports::Notifier* notifier = nullptr;
  /// The client of a cloud; called once per distinct CloudSpec, and again after the cloud could not
  /// be reached (a local simulator may have come back on another port). May be slow: a simulator
  /// may have to be started first.
  std::function<base::Task<base::Result<std::shared_ptr<ports::SliceApi>>>(core::CloudSpec)>
      open_cloud;
  /// The public key line of a private key; a missing key is generated.
  std::function<base::Result<std::string>(const std::string& private_key)> public_key;
  /// The same of a key that is there: none is generated.
  std::function<base::Result<std::string>(const std::string& private_key)> read_public_key;
  /// The SSH port for a job whose `ssh.port` is 0.
  std::function<int(const core::CloudSpec&)> ssh_port;
  /// A local environment variable, for secrets.
  std::function<std::optional<std::string>(const std::string& name)> get_env;
  /// Random numbers in [0, 1) for the jitter of waits.
  std::function<double()> random = base::RandomUnit;
};

/// Settings. Durations are wall time.
struct Options {
  base::StatePaths paths = {};
  core::Policy policy = {};            ///< store_id is filled in by the controller
  base::Duration hot_poll = kHotPoll;  ///< first wait after something changed
  base::Duration lease_time = kLeaseTime;
  /// A host of a READY slice counts as lost when it cannot be reached for this long.
  base::Duration unreachable_limit = kUnreachableLimit;
  /// Run() returns when no job needed care for this long; without a value it never does.
  std::optional<base::Duration> idle_exit = {};
  /// Whether the names of hosts for OpenSSH are kept up to date (StatePaths::SshConfig()).
  bool ssh_config = false;
};

/// The one loop: observes the cloud and the hosts, lets core::Reconcile decide, records, acts.
/// Everything runs on the thread of `loop`. Several controllers may exist; one holds the lease. Its
/// destructor ends everything it does on the loop: a Run() or Tick() in progress returns
/// kCancelled, and nothing passed in is used any more.
class Controller {
 public:
  Controller(asio::io_context& loop, Ports ports, Options options);
  ~Controller();

  /// Runs until Stop(), until nothing needs care (Options::idle_exit), or until the lease is lost
  /// (kLeaseLost). kAborted at once when another controller holds the lease; `hint` names it.
  base::Task<base::Status> Run();
  /// One pass over everything that is due, for cron. Returns when all is quiet, after `bound`, or
  /// when a nudge asks for a controller that stays. No error when another controller holds the
  /// lease: that one does the work.
  base::Task<base::Status> Tick(base::Duration bound);
  /// Makes Run() return soon: the lease is released, remote runs go on. Safe in a signal handler of
  /// Asio.
  void Stop();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// Identifies the holder of a lease, "host:boot/pidns:pid:start:random", so that a dead holder on
/// this machine can be told from one on another machine or in another container. `passing`: a
/// Tick(), which ends soon.
std::string LeaseHolder(bool passing = false);
/// The parts of such a text.
struct Holder {
  std::string host = {};
  std::string where = {};    ///< boot and pid namespace, within which process ids are comparable
  std::int64_t pid = 0;      ///< there
  std::string started = {};  ///< tells the process from a later one with the same id
  bool passing = false;      ///< a Tick(), which releases the lease when it is nudged
};
/// "process 4711 on login-1": the same for people; a text that does not come from LeaseHolder() is
/// left as it is.
std::string HolderText(const std::string& text);
/// Empty when the text does not come from LeaseHolder().
std::optional<Holder> ParseHolder(std::string_view text);
/// Whether its process id means the same process here: it may have ended.
bool IsHere(const Holder& holder);
/// Whether the holder is certainly a process of this machine that has ended. Processes in another
/// pid namespace cannot be seen: their lease has to expire.
bool HolderIsDead(const std::string& holder);
/// Whether the holder is a process of this machine that is seen to run: neither ended nor stopped
/// (SIGSTOP, Ctrl-Z).
bool HolderRuns(const std::string& holder);

}  // namespace jobman::controller
