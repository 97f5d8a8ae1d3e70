#include "controller/listing.hpp"

#include <algorithm>

#include "jobman/core/slice_name.hpp"

namespace jobman::controller {

core::SliceSeen SeenIn(const Listing& listing, const core::SliceRef& ref, const Labels& ours) {
  core::SliceSeen seen{.slice = ref.name};
  const auto is_ours = [&](const Labels& labels) {
    return ref.existing || core::IsOurs(labels, ours);
  };
  for (const auto& one : listing.queued) {
    if (one.id == ref.name) seen.queued = one;
  }
  if (seen.queued && !is_ours(seen.queued->labels)) {
    seen.queued.reset();
    seen.taken.push_back(ref.name);
  }
  for (const std::string& id : core::NodeIds(ref)) {
    const auto node = std::find_if(listing.nodes.begin(), listing.nodes.end(),
                                   [&](const core::NodeSeen& one) { return one.id == id; });
    if (node == listing.nodes.end()) continue;
    if (is_ours(node->labels))
      seen.nodes.push_back(*node);
    else
      seen.taken.push_back(id);
  }
  // As long as some part is ours or may be, the slice is not foreign.
  const std::size_t names = core::NamesOfParts(ref).size();
  seen.foreign = seen.taken.size() >= names && !seen.queued && seen.nodes.empty();
  return seen;
}

}  // namespace jobman::controller
