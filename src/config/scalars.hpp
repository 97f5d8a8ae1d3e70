#pragma once

#include "config/value.hpp"
#include "jobman/base/json.hpp"
#include "jobman/base/result.hpp"
#include "jobman/config/schema.hpp"

namespace jobman::config {

/// A scalar (for kHosts also a list) as JSON of the row's type; its text if that is not a scalar
/// type. Errors say "expected ..., found ...".
base::Result<base::Json> ReadScalar(const Value& value, const KeyRow& row);

}  // namespace jobman::config
