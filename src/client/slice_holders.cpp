#include "client/slice_holders.hpp"

#include <map>
#include <set>
#include <utility>

#include "jobman/ports/records.hpp"

namespace jobman::client {

base::Task<base::Result<SliceHolders>> JobsWithSlices(Context context) {
  ports::JobStore* const store = context.stores.jobs;
  std::set<core::JobId> ids;
  std::map<core::JobId, std::string> names;
  JM_CO_ASSIGN_OR_RETURN(const auto active, co_await store->ActiveVersions());
  for (const ports::JobVersion& one : active) ids.insert(one.id);
  // Jobs that are over may hold one, too.
  const ports::JobFilter all;
  JM_CO_ASSIGN_OR_RETURN(const auto rows, co_await store->List(all));
  for (const ports::JobSummary& row : rows) {
    if (!row.host0.empty()) ids.insert(row.id);
    names[row.id] = row.name;
  }
  SliceHolders holders;
  for (const core::JobId id : ids) {
    auto job = co_await store->Get(id);
    if (job.ok()) {
      if (job->slice) holders.jobs.push_back(*std::move(job));
    } else if (ports::IsUnusable(job.error())) {
      holders.unreadable.push_back({.id = id, .name = names[id], .error = job.error()});
    } else if (job.error().code != base::Code::kNotFound) {
      co_return std::move(job).error();
    }
  }
  co_return holders;
}

}  // namespace jobman::client
