#pragma once

#include <span>

#include "store/sqlite.hpp"

namespace jobman::store {

/// SQL scripts: the one at index n brings a store from version n to version n + 1. Append only:
/// a script that was released is never changed.
std::span<const char* const> Migrations();

/// PRAGMA application_id of our files: "jobm".
inline constexpr std::int64_t kApplicationId = 0x6a6f626d;

/// PRAGMA user_version.
Result<std::int64_t> StoreVersion(Database& db);
/// Brings `db` up to date, each script in one transaction together with its new version number.
/// Several processes may do so at once. A newer store is refused (kNewerStore) and left untouched.
Status Migrate(Database& db, std::span<const char* const> scripts);

}  // namespace jobman::store
