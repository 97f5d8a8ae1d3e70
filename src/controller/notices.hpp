#pragma once

#include "jobman/core/reconcile.hpp"
#include "jobman/ports/store.hpp"

namespace jobman::controller {

/// Puts what core::Notify tells of into the outbox of `turn`, once for each hook that asked for it.
/// Pure. `store_id` makes the event's id one of its own in the world.
void AddNotices(const core::Job& before, const core::Step& step, core::TimePoint now,
                const std::string& store_id, ports::Turn& turn);

}  // namespace jobman::controller
