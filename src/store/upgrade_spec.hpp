#pragma once

#include "jobman/base/json.hpp"

namespace jobman::store {

/// A job's spec as stores up to version 5 keep it, in the form of version 6: the keys and values of
/// a job file. Before, durations were numbers ("grace_ms"), hooks were one list, and what is in
/// `job` stood at the top. Part of a migration: it uses no type of `core`, whose form may change.
base::Json UpgradeSpec(const base::Json& old);

}  // namespace jobman::store
