#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <thread>

#include "sim/host_disk.hpp"
#include "sim/local_fleet.hpp"

namespace jobman::sim {

/// The part all local fleets have: one thread that does what was ordered, in order, and looks
/// after boots until their hosts are up. The thread lives as long as the fleet because the kernel
/// ties "die with the parent" to the thread that started a process.
class WorkerFleet : public LocalFleet {
 public:
  WorkerFleet(FleetOptions options, Report report);
  ~WorkerFleet() override;

  std::string Create(const HostPlan& plan) override;
  bool Boot(const std::string& uid, int boot, const std::vector<HostPlan>& plans) override;
  void PowerOff(const std::string& name) override;
  void SetLink(const std::string& name, Link link) override;
  void Destroy(const std::string& name) override;
  void UpdateMetadata(const std::string& name, const Metadata& metadata) override;

 protected:
  // Called in the worker's thread.

  /// Starts the server of one host whose disk is prepared.
  virtual base::Status Launch(const HostPlan& plan) = 0;
  /// Whether the host can be reached; an error when it never will be.
  virtual base::Result<bool> IsUp(const std::string& name) = 0;
  virtual void Kill(const std::string& name) = 0;
  virtual void Relink(const std::string& name, Link link) = 0;
  /// Looks after what is under way between orders; true while there is something.
  virtual bool Tend() { return false; }

  virtual HostDisk DiskOf(const std::string& name) const = 0;
  base::Path HostDir(const std::string& name) const { return options_.dir / "hosts" / name; }
  const FleetOptions& options() const { return options_; }

  /// Runs `order` in the thread, after those before it.
  void Post(std::function<void()> order);
  /// The same, and waits for its end.
  void PostAndWait(std::function<void()> order);
  /// Must be the last thing the constructor of the last derived class does, and the other one the
  /// last of its destructor: the thread calls virtual functions.
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
  void LookAfterBoots();

  FleetOptions options_;
  Report report_;
  std::mutex mutex_ = {};
  std::condition_variable wake_ = {};
  std::deque<std::function<void()>> orders_ = {};
  bool stopping_ = false;
  bool tending_ = false;               ///< of the thread
  std::vector<Booting> booting_ = {};  ///< of the thread
  std::thread thread_ = {};
};

}  // namespace jobman::sim
