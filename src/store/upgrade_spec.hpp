#pragma once

#include "jobman/base/json.hpp"

namespace jobman::store {

/// Upgrades a job's spec of store versions up to 5 to the form of version 6: the keys and values of
/// a job file. Before, durations were numbers ("grace_ms"), hooks were one list, and the members of
/// `job` were at the top level. Part of a migration: uses no type of `core`, whose form may change.
base::Json UpgradeSpec(const base::Json& old);

}  // namespace jobman::store
