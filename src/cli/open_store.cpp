#include "cli/open_store.hpp"

#include "jobman/store/sqlite_store.hpp"

namespace jobman::cli {

base::Result<ports::Stores> OpenStore(const base::StatePaths& paths, StoreUse use) {
  const bool write = use == StoreUse::kWrite;
  if (write) JM_TRY(base::EnsureDir(paths.StoreDir()));
  const auto mode = write ? store::OpenMode::kReadWrite : store::OpenMode::kReadOnly;
  JM_ASSIGN_OR_RETURN(std::shared_ptr<store::SqliteStore> store,
                      store::SqliteStore::Open(paths.StoreDir(), mode));
  return ports::StoresOf(std::move(store));
}

}  // namespace jobman::cli
