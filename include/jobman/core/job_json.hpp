#pragma once

#include <optional>
#include <string_view>

#include "jobman/base/json.hpp"
#include "jobman/core/job.hpp"

namespace jobman::core {

// The parts of a job as JSON: what the store keeps and what `show --json` prints. Absent members
// take their defaults, so older rows stay readable. An unknown word (a state, a phase) is an error
// with reason kNewerStore, never an empty state: a forgotten state would orphan slices that cost
// money. Times are RFC 3339 with milliseconds.

/// {"code": "UNAVAILABLE", "message": ..., "reason": ..., "hint": ..., "retry_after": 30,
/// "context": [...]}; empty members are left out.
base::Json ErrorToJson(const base::Error& error);
base::Error ErrorFromJson(const base::Json& json);

/// {"state": "SETUP", "step": 2}: StateName() and the data of that state.
base::Json StateToJson(const JobState& state);
base::Result<JobState> StateFromJson(const base::Json& json);

base::Json SliceToJson(const Slice& slice);
base::Result<Slice> SliceFromJson(const base::Json& json);

/// An array; anything else reads as none.
base::Json AbandonedToJson(const std::vector<AbandonedRequest>& all);
base::Result<std::vector<AbandonedRequest>> AbandonedFromJson(const base::Json& json);

base::Json StageToJson(const Stage& stage);
base::Result<Stage> StageFromJson(const base::Json& json);

base::Json SpentToJson(const Spent& spent);
base::Result<Spent> SpentFromJson(const base::Json& json);

/// {"restart": {"cause": "preempted"}, "end": {"outcome": "infra"}}: Job::restart and
/// Job::attempt_end.
base::Json AttemptToJson(const Job& job);
base::Status ReadAttempt(const base::Json& json, Job& job);

/// "run", "cancel", "reboot", "requeue", "delete".
std::string_view WishName(Wish wish);
std::optional<Wish> WishFromName(std::string_view name);
}  // namespace jobman::core
