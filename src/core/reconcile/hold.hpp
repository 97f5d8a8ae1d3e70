#pragma once

#include "jobman/core/reconcile.hpp"

namespace jobman::core {

// What holds for a slice on record, whoever holds it.

/// When its record last changed by a request or by evidence. A look that began before that shows
/// what was, not what is.
TimePoint LastNewsOf(const Slice& slice);
/// Complete listings without the slice, or "not found", by a call that began at `looked`, mean that
/// it is gone: what was just created may be invisible for a moment. What counts is when the call
/// began: this machine may have slept since, and its answer have been overtaken.
bool AbsenceIsFact(const Slice& slice, TimePoint looked, const Policy& policy);
base::Error NameTaken(const std::string& name);

}  // namespace jobman::core
