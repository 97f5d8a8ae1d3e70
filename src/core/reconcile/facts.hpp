#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/reconcile/slice_view.hpp"
#include "jobman/core/reconcile.hpp"

namespace jobman::core {

/// What one observation tells beyond what the record keeps. Lives for one decision.
struct Facts {
  /// The slice that the following is about, up to `hosts_replaced`; empty: about none.
  std::string slice = {};
  SliceView view = SliceView::kNotLooked;
  TimePoint looked_at = {};  ///< when the look, or the delete that found nothing, began
  bool by_name = false;      ///< the look asked for the slice by its names
  bool doubtful = false;     ///< to be asked for by its names before anything is lost
  bool suspended = false;    ///< the queued resource is
  bool not_found = false;    ///< a delete found nothing of that name
  std::optional<base::Error> create_refused = {};
  std::optional<base::Error> failure = {};  ///< why it failed
  std::vector<int> hosts_up = {};           ///< of a multislice: the hosts on nodes that are READY
  bool machines_replaced = false;           ///< some machines are others than before
  std::vector<int> hosts_replaced = {};     ///< these; empty when all may be

  std::optional<Notice> notice = {};  ///< of the slice or a host of the stage, and news
  std::optional<Alarm> alarm = {};    ///< the command broke a rule of the watchdog
  std::string note = {};              ///< worth telling, if the decision has nothing better to say
};

/// Puts an observation into the record, and gives back what is true for this decision only. Decides
/// nothing. What is about an earlier slice, attempt or stage is dropped.
Facts Fold(Job& job, const Observation& seen, TimePoint now);

}  // namespace jobman::core
