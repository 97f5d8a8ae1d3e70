#pragma once

#include <chrono>
#include <optional>
#include <variant>

#include "config/value.hpp"
#include "jobman/base/result.hpp"
#include "jobman/base/time.hpp"
#include "jobman/config/schema.hpp"
#include "jobman/core/job_spec.hpp"

namespace jobman::config {

/// A value read as its type. Errors say "expected ..., found ...".
base::Result<bool> ReadBool(const Value& value);
base::Result<int> ReadNumber(const Value& value);
/// Nothing stands for "unlimited".
base::Result<std::optional<int>> ReadCount(const Value& value);
base::Result<base::Duration> ReadDuration(const Value& value);
/// "6h", or "2026-11-21T08:00:00Z".
using Deadline = std::variant<base::Duration, base::TimePoint>;
base::Result<Deadline> ReadDeadline(const Value& value);
base::Result<core::HostSet> ReadHosts(const Value& value);

/// What keeps a value from being of the row's type, for the types that one function above reads.
std::optional<base::Error> CheckScalar(const Value& value, const KeyRow& row);

}  // namespace jobman::config
