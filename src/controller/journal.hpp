#pragma once

#include "jobman/core/reconcile.hpp"
#include "jobman/ports/job_store.hpp"

namespace jobman::controller {

/// Adds to `turn` what to record of the step from `before` to `step.job`: lines of the journal,
/// exit codes, the attempt's row. Pure.
void Record(const core::Job& before, const core::Observation& seen, const core::Step& step,
            core::TimePoint now, ports::Turn& turn);

}  // namespace jobman::controller
