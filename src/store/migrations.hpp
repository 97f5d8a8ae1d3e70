#pragma once

#include <span>

#include "store/sqlite.hpp"

namespace jobman::store {

/// Brings a store from one version to the next: runs `sql`, then `rewrite`, where SQL cannot say it
/// (JSON in a new form), in one transaction. `rewrite` may read rows as the version before wrote
/// them; it must not use what later versions change, such as rows.hpp.
struct Migration {
  const char* sql = "";
  Status (*rewrite)(Database& db) = nullptr;
};

/// The one at index n brings a store from version n to version n + 1. Append only: one that was
/// released is never changed.
std::span<const Migration> Migrations();

/// PRAGMA application_id of our files: "jobm".
inline constexpr std::int64_t kApplicationId = 0x6a6f626d;

/// PRAGMA user_version.
Result<std::int64_t> StoreVersion(Database& db);
/// Brings `db` up to date, each migration in one transaction with its new version number. Several
/// processes may do so at once. A newer store is refused (kNewerStore) and left untouched.
Status Migrate(Database& db, std::span<const Migration> migrations);

}  // namespace jobman::store
