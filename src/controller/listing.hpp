#pragma once

#include <map>
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

using Labels = std::map<std::string, std::string>;

/// What the listing shows under the slice's names: ours, or names taken by others. `ours`:
/// core::OwnerLabels() of the job.
core::SliceSeen SeenIn(const Listing& listing, const core::SliceRef& ref, const Labels& ours);

}  // namespace jobman::controller
