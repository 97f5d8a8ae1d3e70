#pragma once

#include "jobman/core/reconcile.hpp"
#include "jobman/ports/job_store.hpp"

namespace jobman::controller {

/// Adds to `turn` a delivery of what core::Notify tells of, for each hook that asked for it.
/// Pure. `store_id` makes the event's id one of its own in the world.
void AddDeliveries(const core::Job& before, const core::Step& step, core::TimePoint now,
                   const std::string& store_id, ports::Turn& turn);

}  // namespace jobman::controller
