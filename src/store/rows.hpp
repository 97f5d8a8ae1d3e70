#pragma once

#include <string>

#include "jobman/ports/job_store.hpp"
#include "store/sqlite.hpp"

// Rows <-> memory: the only place that knows the columns.

namespace jobman::store {

/// INSERT and UPDATE of a row of `jobs`; all take BindJob(). The UPDATE then takes the id and the
/// expected version; the INSERT of a job with a given id takes that before.
const char* InsertJobSql();
const char* InsertJobWithIdSql();
const char* UpdateJobSql();
void BindJob(Query& query, const core::Job& job);

/// The SELECT for ReadJob(), up to WHERE.
const std::string& SelectJobSql();
/// The current row as a job. kNewerStore for unknown words.
Result<core::Job> ReadJob(Query& query);

/// The SELECT of every row of `list`, in the order of ids.
const char* SelectSummariesSql();
/// Reads the current row into `row`, which is new: rows are long, and there may be thousands.
Status ReadSummary(Query& query, bool with_labels, ports::JobSummary& row);

std::string SpecText(const core::JobSpec& spec);

}  // namespace jobman::store
