#pragma once

#include "jobman/ports/lease_store.hpp"
#include "store/sqlite.hpp"

// The one row of the lease.

namespace jobman::store {

/// The lease as stored; the holder is empty when nobody holds it.
Result<ports::Lease> SelectLease(Database& db);
Status UpdateLease(Database& db, const ports::Lease& lease);
/// kLeaseLost unless the token is that of the present holder, or 0, which is not checked.
Status CheckLease(Database& db, std::int64_t token);

}  // namespace jobman::store
