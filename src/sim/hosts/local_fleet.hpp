#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "jobman/base/files.hpp"
#include "jobman/base/result.hpp"
#include "sim/hosts/docker.hpp"
#include "sim/hosts/host_disk.hpp"
#include "sim/hosts/host_fleet.hpp"
#include "sim/hosts/peer.hpp"

namespace jobman::sim {

/// What a host has of its own.
enum class Sandbox {
  kBubblewrap,  ///< home, /tmp, host name and process tree
  kNone,        ///< a home: bubblewrap does not work here, or is off
  kLight,       ///< like kNone, for many hosts: idle hosts have no process
};
std::string SandboxName(Sandbox sandbox);

/// As sshd has it: how many connections may wait to be accepted.
inline constexpr int kSshdBacklog = 128;

struct FleetOptions {
  base::Path dir = {};  ///< holds hosts/ and logs/
  int ssh_port = 0;
  int metadata_port = 0;  ///< of the metadata server; 0: none
  Sandbox sandbox = Sandbox::kBubblewrap;
  base::Path self = {};                 ///< the program jobman-sim, also the helper
  std::vector<base::Path> shared = {};  ///< folders that every host sees and may write to
  base::Path homes = {};                ///< the homes of all hosts; empty: each has its own
  std::optional<Docker> docker = {};    ///< that the hosts may use
  int backlog = kSshdBacklog;           ///< of each address of a host; without a sandbox only
  bool fuse = false;                    ///< hosts may mount FUSE file systems; sandboxes only
  bool scripts = true;  ///< startup scripts run; without a sandbox only if the user asked for none
};

/// OpenSSH servers on loopback addresses. Everything that a fleet starts ends with it, even if this
/// process is killed.
///
/// One thread does the work in order and watches booting hosts. It lives as long as the fleet,
/// because the kernel ties "die with the parent" to the thread that started a process.
class LocalFleet : public HostFleet {
 public:
  /// Called in the fleet's thread: the hosts of a boot are reachable, or `error` says why they
  /// never will be.
  using Report = std::function<void(const std::string& uid, int boot, const std::string& error)>;

  static base::Result<std::unique_ptr<LocalFleet>> Start(FleetOptions options, Report report);
  ~LocalFleet() override;

  /// Ends every host and waits for that. Returns the processes that are left nevertheless.
  virtual std::vector<std::string> Shutdown() = 0;
  /// Whether the other end of a connection is a process of this host. From any thread.
  virtual bool IsOf(const std::string& name, const Peer& peer) const = 0;

  std::string Create(const HostPlan& plan) override;
  bool Boot(const std::string& uid, int boot, const std::vector<HostPlan>& plans) override;
  void PowerOff(const std::string& name) override;
  void SetLink(const std::string& name, Link link) override;
  /// Sandboxes have none: their sshd listens itself.
  base::Status MayFail(HostFaultKind kind) const override;
  void SetFault(const std::string& name, const HostFault& fault) override;
  void Destroy(const std::string& name) override;
  void UpdateMetadata(const std::string& name, const Metadata& metadata) override;

 protected:
  LocalFleet(FleetOptions options, Report report)
      : options_(std::move(options)), report_(std::move(report)) {}

  // Called in the fleet's thread.

  /// Starts the server of a host whose disk is prepared.
  virtual base::Status Launch(const HostPlan& plan) = 0;
  /// Whether the host is reachable; an error if it never will be.
  virtual base::Result<bool> IsUp(const std::string& name) = 0;
  virtual void Kill(const std::string& name) = 0;
  /// Not for kHung and kTrickling, which are matters of the disk.
  virtual void Relink(const std::string& name, Link link) = 0;
  /// Of a kind that MayFail allows.
  virtual void Spoil(const std::string& /*name*/, const HostFault& /*fault*/) {}
  /// Called repeatedly while something is under way; returns whether there is.
  virtual bool Tend() { return false; }

  virtual HostDisk DiskOf(const std::string& name) const = 0;
  base::Path HostsDir() const { return options_.dir / "hosts"; }
  base::Path HostDir(const std::string& name) const { return HostsDir() / name; }
  /// Ends the containers of hosts whose disks lie in `folder`, if there is docker.
  void EndContainersIn(const base::Path& folder) const;
  const FleetOptions& options() const { return options_; }

  /// Runs `work` in the thread, after all earlier work.
  void Post(std::function<void()> work);
  /// The same, and waits for it.
  void PostAndWait(std::function<void()> work);
  /// The thread calls virtual functions: the most derived constructor starts it last, and its
  /// destructor joins it.
  void StartThread();
  void Join();

 private:
  struct Booting {
    std::string uid = {};
    int boot = 0;
    std::vector<std::string> names = {};
  };
  void Run();
  void BootNow(const Booting& boot, const std::vector<HostPlan>& plans);
  void WatchBoots();

  FleetOptions options_;
  Report report_;
  std::mutex mutex_ = {};
  std::condition_variable wake_ = {};
  std::deque<std::function<void()>> work_ = {};
  bool stopping_ = false;
  bool tending_ = false;               ///< used by the thread alone
  std::vector<Booting> booting_ = {};  ///< used by the thread alone
  std::thread thread_ = {};
};

/// Whether bubblewrap can make a sandbox here; the error quotes its output.
base::Status TryBubblewrap();

}  // namespace jobman::sim
