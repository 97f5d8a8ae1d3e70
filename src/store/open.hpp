#pragma once

#include <string>

#include "jobman/base/files.hpp"
#include "jobman/store/sqlite_store.hpp"
#include "store/sqlite.hpp"

namespace jobman::store {

struct Opened {
  Database db;
  std::string note = {};  ///< SqliteStore::StorageNote()
};

/// Opens the store of the folder `dir`: creates, upgrades or refuses it.
Result<Opened> OpenStore(const base::Path& dir, const SqliteOptions& options);

}  // namespace jobman::store
