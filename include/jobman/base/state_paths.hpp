#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "jobman/base/files.hpp"

namespace jobman::base {

/// Where everything lies that jobman keeps on this machine. One value, made from JOBMAN_HOME or its
/// default; the command line and the controller agree by using it. Creates nothing.
struct StatePaths {
  Path home = {};

  /// Folder of the store's files.
  Path StoreDir() const;
  /// jobs/000042: everything that is kept in files for one job.
  Path JobDir(std::int64_t job) const;
  /// jobs/000042/attempt-2
  Path AttemptDir(std::int64_t job, int attempt) const;
  /// jobs/000042/attempt-2/run/host-0003.log: what one host wrote in one stage, byte for byte.
  Path LogPath(std::int64_t job, int attempt, std::string_view stage, int host) const;
  /// The controller's own log, when it runs in the background.
  Path ControllerLog() const;
  /// Unix datagram socket that wakes the controller. Longer than 107 bytes the kernel refuses it:
  /// see SocketPathFits().
  Path ControllerSocket() const;
  /// Of the local simulator that `cloud: local` starts.
  Path SimDir() const;
  /// The private key that jobman makes when a job names none; the public one is beside it, ".pub".
  Path KeyPath() const;
  /// Copies of facts that can be asked for again. May be deleted at any time.
  Path CacheDir() const;
};

/// Whether a Unix socket can be bound at `path` (sun_path holds 107 bytes).
bool SocketPathFits(const Path& path);

/// "000042": job numbers as people see them, and as folders are named.
std::string FormatJobNumber(std::int64_t job);

}  // namespace jobman::base
