#pragma once

#include <map>
#include <string>

#include "jobman/ports/job_store.hpp"
#include "store/sqlite.hpp"

// Rows <-> memory: the only place that knows columns.

namespace jobman::store {

/// INSERT and UPDATE of a row of `jobs`; both take BindJob(). The UPDATE then takes the id and the
/// version that the row must have.
const char* InsertJobSql();
const char* UpdateJobSql();
void BindJob(Query& query, const core::Job& job);

/// The SELECT that ReadJob() reads, ending before WHERE.
const std::string& SelectJobSql();
/// The present row as a job. kNewerStore for words this program does not know.
Result<core::Job> ReadJob(Query& query);

/// The SELECT of every row of `list`, in the order of ids.
const char* SelectSummariesSql();
Result<ports::JobSummary> ReadSummary(Query& query);

std::string SpecText(const core::JobSpec& spec);

}  // namespace jobman::store
