#pragma once

#include <optional>
#include <string_view>

#include "jobman/base/json.hpp"
#include "jobman/core/job.hpp"

namespace jobman::core {

// The parts of a job as JSON: what the store keeps and what `show --json` prints. Absent members
// read as their defaults, so that older rows stay readable. A word that this program does not know
// (a state, a phase) is an error with reason kNewerStore, never an empty state: forgetting a state
// would orphan slices that cost money. Times are RFC 3339 with milliseconds.

/// {"code": "UNAVAILABLE", "message": ..., "reason": ..., "hint": ..., "retry_after": 30,
/// "context": [...]}; empty members are left out.
base::Json ErrorToJson(const base::Error& error);
base::Error ErrorFromJson(const base::Json& json);

/// {"state": "SETUP", "step": 2}: StateName() and the data of that state.
base::Json StateToJson(const JobState& state);
base::Result<JobState> StateFromJson(const base::Json& json);

base::Json SliceToJson(const Slice& slice);
base::Result<Slice> SliceFromJson(const base::Json& json);

/// An array; what is no array reads as none.
base::Json GivenUpToJson(const std::vector<GivenUp>& all);
base::Result<std::vector<GivenUp>> GivenUpFromJson(const base::Json& json);

base::Json StageToJson(const Stage& stage);
base::Result<Stage> StageFromJson(const base::Json& json);

base::Json SpentToJson(const Spent& spent);
Spent SpentFromJson(const base::Json& json);

/// "run", "cancel", "reboot", "requeue", "delete".
std::string_view WishName(Wish wish);
std::optional<Wish> WishFromName(std::string_view name);
/// "intended", "created", "deleting", "gone".
std::string_view SlicePhaseName(SlicePhase phase);
std::optional<SlicePhase> SlicePhaseFromName(std::string_view name);
/// "pending", "running", "exited", "lost".
std::string_view HostPhaseName(HostPhase phase);
std::optional<HostPhase> HostPhaseFromName(std::string_view name);

}  // namespace jobman::core
