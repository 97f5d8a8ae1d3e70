#pragma once

#include <span>

#include "store/sqlite.hpp"

namespace jobman::store {

/// Upgrades a store by one version: runs `sql`, then `rewrite` for what SQL cannot do (JSON in a
/// new form), in one transaction. `rewrite` reads rows of the previous version; it must not use
/// what later versions change, such as rows.hpp.
struct Migration {
  const char* sql = "";
  Status (*rewrite)(Database& db) = nullptr;
};

/// The entry at index n upgrades version n to n + 1. Append only: a released one is never changed.
std::span<const Migration> Migrations();

/// PRAGMA application_id of our files: "jobm".
inline constexpr std::int64_t kApplicationId = 0x6a6f626d;

/// PRAGMA user_version.
Result<std::int64_t> StoreVersion(Database& db);
/// Upgrades `db`, each migration in one transaction with its new version number. Several processes
/// may do so at once. A newer store is refused (kNewerStore) and not changed.
Status Migrate(Database& db, std::span<const Migration> migrations);

}  // namespace jobman::store
