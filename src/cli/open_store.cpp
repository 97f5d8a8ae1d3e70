#include "cli/open_store.hpp"

#include "jobman/store/sqlite_store.hpp"

namespace jobman::cli {

base::Result<std::unique_ptr<ports::Store>> OpenStore(const base::StatePaths& paths, StoreUse use) {
  const bool write = use == StoreUse::kWrite;
  if (write) JM_TRY(base::EnsureDir(paths.StoreDir()));
  JM_ASSIGN_OR_RETURN(
      std::unique_ptr<ports::Store> store,
      store::SqliteStore::Open(paths.StoreDir(),
                               write ? store::OpenMode::kReadWrite : store::OpenMode::kReadOnly));
  return store;
}

}  // namespace jobman::cli
