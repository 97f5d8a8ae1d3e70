#pragma once

#include <memory>
#include <string>
#include <vector>

#include "client/sync_archive.hpp"
#include "client/sync_difference.hpp"
#include "client/sync_tree.hpp"
#include "jobman/controller/file_relay.hpp"

namespace jobman::client {

/// A part of what a host is sent, and done with once the host has it: an interrupted sync goes on
/// with the next part.
struct SyncPart {
  std::vector<std::string> names = {};
  SyncOrders orders = {};
  std::weak_ptr<SyncArchive> archive = {};  ///< while a host reads it
  std::shared_ptr<controller::FileRelay> relay = std::make_shared<controller::FileRelay>();
};

/// What some hosts are sent, those that differ from the folder here in the same way.
struct SyncPlan {
  SyncDifference difference = {};
  std::vector<SyncPart> parts = {};  ///< none: the host is equal, and knows it
  std::int64_t bytes = 0;            ///< of all parts

  /// Makes the archive of a part unless a host reads it.
  std::shared_ptr<SyncArchive> Open(const SyncTree* tree, std::size_t part);
};

/// Divides what differs into parts of 256 MiB or 20,000 files, unless one file is larger.
/// `stale`: the record of the host is to be made anew even if nothing else is to be done.
SyncPlan PlanParts(const SyncTree& tree, SyncDifference difference, const SyncState& host,
                   bool stale);

}  // namespace jobman::client
