#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "sim/local_fleet.hpp"
#include "sim/world.hpp"

namespace jobman::sim {

/// The world in real time with real hosts: one lock around it, and a thread that lets things happen
/// when they are due.
class Simulator {
 public:
  static base::Result<std::unique_ptr<Simulator>> Start(Settings settings, FleetOptions options);
  ~Simulator();
  Simulator(const Simulator&) = delete;
  Simulator& operator=(const Simulator&) = delete;

  /// Answers a request; any thread.
  Reply Handle(const Request& request);
  /// What a host reads on its metadata server; any thread.
  GuestReply Guest(const std::string& address, const GuestRequest& request);
  /// Called, under the lock, when a host could read something else than before.
  void OnGuestChange(std::function<void()> changed);
  /// Called, under the lock, when the API shall not be reachable for a time.
  void OnUnplug(std::function<void(Duration)> unplug);
  /// Ends all hosts. Gives back what was left behind: {"nodes": [..], "queued_resources": [..],
  /// "processes": [..]}. Nothing boots afterwards.
  Json Shutdown();

 private:
  Simulator() = default;
  void Tick();
  void Report(const std::string& uid, int boot, const std::string& error);

  std::unique_ptr<LocalFleet> fleet_ = {};
  std::unique_ptr<World> world_ = {};
  std::mutex mutex_ = {};
  std::condition_variable wake_ = {};
  bool stopping_ = false;
  std::thread ticker_ = {};
};

}  // namespace jobman::sim
