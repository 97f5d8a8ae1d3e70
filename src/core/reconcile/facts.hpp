#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/reconcile/slice_view.hpp"
#include "jobman/core/reconcile.hpp"

namespace jobman::core {

/// What an observation says beyond what the record keeps. Lives for one decision.
struct Facts {
  /// The slice that the members up to `hosts_replaced` are about, if any.
  std::optional<std::string> slice = {};
  SliceView view = SliceView::kNotLooked;
  TimePoint looked_at = {};  ///< when the look, or the delete that found nothing, began
  bool by_name = false;      ///< the look asked for the slice by its names
  bool doubtful = false;     ///< look it up by name before giving anything up
  bool orphaned = false;     ///< its nodes are there without their queued resource
  bool suspended = false;    ///< the queued resource is suspended
  bool not_found = false;    ///< a delete found nothing of that name
  std::optional<base::Error> create_refused = {};
  std::optional<base::Error> failure = {};  ///< why the slice failed
  std::vector<int> hosts_up = {};           ///< of a multislice: the hosts on nodes that are READY
  bool first_ready = false;                 ///< it was never ready before
  bool machines_replaced = false;           ///< some machines were replaced
  std::vector<int> hosts_replaced = {};     ///< which; empty when all may have been

  std::optional<Notice> notice = {};  ///< a new one, of the slice or a host of the stage
  std::optional<Alarm> alarm = {};    ///< the command broke a rule of the watchdog
  std::optional<Task> offer = {};     ///< a task that the worker may take
  std::string note = {};              ///< for `why`, if the decision gives no reason
};

/// Records an observation in the job and returns what holds for this decision only. Decides
/// nothing. Observations of an earlier slice, attempt or stage are dropped.
Facts Fold(Job& job, const Observation& seen, TimePoint now);

}  // namespace jobman::core
