#pragma once

#include <string>
#include <vector>

#include "jobman/core/reconcile.hpp"

namespace jobman::controller {

/// What two complete list calls showed of a place, nodes first; or the answers of get calls by
/// name.
struct Listing {
  core::Place place = {};
  std::vector<core::NodeSeen> nodes = {};
  std::vector<core::QueuedSeen> queued = {};
  bool queued_listed = false;
};

/// What the listing shows under the slice's names: ours, or names taken by others.
core::SliceSeen SeenIn(const Listing& listing, const core::SliceRef& ref, core::JobId job,
                       const std::string& store_id);

}  // namespace jobman::controller
