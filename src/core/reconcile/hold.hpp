#pragma once

#include "jobman/core/reconcile.hpp"

namespace jobman::core {

// Rules for a slice on record.

/// When a request or a sighting last changed its record. A look that began earlier is out of date.
TimePoint LastNewsOf(const Slice& slice);
/// Whether "not found" from a call that began at `looked` proves that it is gone: a new slice may
/// be invisible for a moment. The start of the call counts: this machine may have slept since, and
/// the answer may be out of date.
bool AbsenceIsFact(const Slice& slice, TimePoint looked, const Policy& policy);
base::Error NameTaken(const std::string& name);

}  // namespace jobman::core
