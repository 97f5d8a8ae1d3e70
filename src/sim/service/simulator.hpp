#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "sim/hosts/local_fleet.hpp"
#include "sim/service/tpu_service.hpp"

namespace jobman::sim {

/// The service in real time with real hosts: adds a lock, and a thread that runs what is due.
class Simulator {
 public:
  static base::Result<std::unique_ptr<Simulator>> Start(Settings settings, FleetOptions options);
  ~Simulator();
  Simulator(const Simulator&) = delete;
  Simulator& operator=(const Simulator&) = delete;

  // Handle and Guest may be called from any thread; callbacks run under the lock.

  Reply Handle(const Request& request);
  GuestReply Guest(const std::string& address, const GuestRequest& request);
  /// Whether the other end of a connection to this address is a process of the host there.
  bool IsOwn(const std::string& address, const Peer& peer) const;
  void OnGuestChange(std::function<void()> changed);
  void OnUnplug(std::function<void(Duration)> unplug);
  /// Ends all hosts; nothing boots afterwards. Returns what is left: {"nodes": [..],
  /// "queued_resources": [..], "processes": [..]}.
  Json Shutdown();

 private:
  Simulator() = default;
  void Tick();
  void Report(const std::string& uid, int boot, const std::string& error);

  std::unique_ptr<LocalFleet> fleet_ = {};
  std::unique_ptr<TpuService> service_ = {};
  mutable std::mutex mutex_ = {};
  std::condition_variable wake_ = {};
  bool stopping_ = false;
  std::thread ticker_ = {};
};

}  // namespace jobman::sim
