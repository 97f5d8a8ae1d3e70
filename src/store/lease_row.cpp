#include "store/lease_row.hpp"

#include "store/rules.hpp"

namespace jobman::store {

Result<ports::Lease> SelectLease(Database& db) {
  JM_ASSIGN_OR_RETURN(
      Query query,
      db.Prepare("SELECT holder, token, expires FROM lease WHERE id = 1", "reading the lease"));
  JM_ASSIGN_OR_RETURN(const bool found, query.Step());
  if (!found) return base::Internal("the store has no row for the lease");
  return ports::Lease{.holder = query.Text(), .token = query.Int(), .expires = query.Time()};
}

Status UpdateLease(Database& db, const ports::Lease& lease) {
  return db.Run("UPDATE lease SET holder = ?, token = ?, expires = ? WHERE id = 1",
                "writing the lease", lease.holder, lease.token, lease.expires);
}

Status CheckLease(Database& db, std::int64_t token) {
  if (token == 0) return base::Ok();
  JM_ASSIGN_OR_RETURN(
      Query query,
      db.Prepare("SELECT 1 FROM lease WHERE token = ? AND holder <> ''", "checking the lease"));
  JM_ASSIGN_OR_RETURN(const bool held, query.Bind(token).Step());
  if (!held) return LeaseLost();
  return base::Ok();
}

}  // namespace jobman::store
