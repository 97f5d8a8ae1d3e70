#pragma once

#include <string>

#include "jobman/base/files.hpp"
#include "jobman/store/sqlite_store.hpp"
#include "store/sqlite.hpp"

namespace jobman::store {

/// Opens the store of the folder `dir`: creates, upgrades or refuses it.
Result<Database> OpenStore(const base::Path& dir, const SqliteOptions& options);

}  // namespace jobman::store
