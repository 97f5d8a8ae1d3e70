#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "jobman/base/handle.hpp"
#include "jobman/base/result.hpp"
#include "sim/hosts/guest_metadata.hpp"
#include "sim/hosts/peer.hpp"

namespace jobman::sim {

/// The metadata server of all hosts: one listener on every address of the loopback device, and one
/// thread. The address that a host connects to, its own, identifies it; connections of others than
/// its processes are refused. A request that waits for a
/// change takes a descriptor but no thread.
class MetadataServer {
 public:
  using Source = std::function<GuestReply(const std::string& address, const GuestRequest& request)>;
  /// Whether a connection to a host's address comes from that host.
  using Guard = std::function<bool(const std::string& address, const Peer& peer)>;

  /// Takes a free port. Connections wait until Serve().
  static base::Result<std::unique_ptr<MetadataServer>> Bind();
  void Serve(Guard guard, Source source);
  /// Call when readable metadata has changed. From any thread.
  void Wake();
  ~MetadataServer();
  MetadataServer(const MetadataServer&) = delete;
  MetadataServer& operator=(const MetadataServer&) = delete;

  int port() const { return port_; }

 private:
  using Clock = std::chrono::steady_clock;
  struct Client {
    base::UniqueFd socket = {};
    std::string address = {};                ///< that it connected to
    std::string head = {};                   ///< read so far
    std::optional<GuestRequest> waits = {};  ///< for a change
    std::string etag = {};                   ///< of what it has seen
    Clock::time_point until = Clock::time_point::max();
  };
  MetadataServer() = default;
  void Run();
  void Accept();
  /// False when the connection should be closed.
  bool Read(Client& client);
  /// Why the client gets nothing, whatever it asks for, if so.
  std::optional<GuestReply> RefusalOf(const Client& client, const GuestRequest& request) const;
  /// Answers, or lets the request wait. False if answered.
  bool Begin(Client& client, const GuestRequest& request);
  /// Answers requests whose wait is over.
  void Review(bool changed);
  int PollTimeout() const;

  base::UniqueFd listener_ = {};
  base::UniqueFd event_ = {};
  int port_ = 0;
  std::atomic<bool> stopping_ = false;
  Guard guard_ = {};
  Source source_ = {};
  std::vector<Client> clients_ = {};
  std::thread thread_ = {};
};

}  // namespace jobman::sim
