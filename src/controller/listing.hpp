#pragma once

#include <string>
#include <vector>

#include "jobman/core/reconcile.hpp"

namespace jobman::controller {

/// A place as two complete listings showed it, nodes listed first; or what the API answered when it
/// was asked for single names there.
struct Listing {
  core::Place place = {};
  std::vector<core::NodeSeen> nodes = {};
  std::vector<core::QueuedSeen> queued = {};
  bool queued_listed = false;
};

/// What the listing shows under the slice's names, told apart by whose it is.
core::SliceSeen SeenIn(const Listing& listing, const core::SliceRef& ref, core::JobId job,
                       const std::string& store_id);

}  // namespace jobman::controller
