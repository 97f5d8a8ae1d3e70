#pragma once

#include <string>
#include <vector>

#include "jobman/ports/job_store.hpp"

namespace jobman::cli {

/// Sorts by "id", "name", "status", "since", "zone" or "user". Jobs that are equal in it stay in
/// the order of their numbers.
void SortJobs(std::vector<ports::JobSummary>& jobs, const std::string& key);

/// Whether nothing is under way for the job any more.
bool HasEnded(const ports::JobSummary& job);

/// For when not all of them can be looked at: those that are not over, in the order they have, then
/// those that ended last.
std::vector<const ports::JobSummary*> CurrentFirst(const std::vector<ports::JobSummary>& jobs);

}  // namespace jobman::cli
