#pragma once

#include "jobman/core/reconcile.hpp"
#include "jobman/ports/job_store.hpp"

namespace jobman::controller {

/// Adds a delivery to `turn` for each core::TellHooks effect and each hook that wants its event.
/// Pure. `store_id` makes event ids globally unique.
void AddDeliveries(const core::Job& before, const core::Step& step, core::TimePoint now,
                   const std::string& store_id, ports::Turn& turn);

}  // namespace jobman::controller
