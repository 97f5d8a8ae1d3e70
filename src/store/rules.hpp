#pragma once

#include <optional>
#include <string>

#include "jobman/ports/job_store.hpp"
#include "jobman/ports/lease_store.hpp"

// Rules that all implementations of the store share.

namespace jobman::store {

using base::Result;
using base::Status;

/// The job as Create stores it: awake, version 1, no id yet.
core::Job PrepareNew(core::Job job, core::TimePoint now);
/// The first line of a job's journal.
ports::Event CreatedEvent(const core::Job& job, core::TimePoint now);
/// Whether the job may be stored under the id that it brings, if that is free (Import).
Status MayImport(const core::Job& job);
core::Job PrepareImported(core::Job job);
ports::Event ImportedEvent(const ports::ImportedJob& imported, core::TimePoint now);
base::Error IdTaken(core::JobId id);
/// Applies a wish to `job` as SetWish() promises; its version grows.
void ApplyWish(core::Job& job, core::Wish wish, core::SetupWish setup, core::TimePoint now);
ports::Event WishEvent(const core::Job& job, core::SetupWish setup, core::TimePoint now);

/// The same for Revise(), without its wish.
void ApplyRevision(core::Job& job, core::JobSpec spec, core::TimePoint now);
ports::Event RevisionEvent(const core::Job& job, core::TimePoint now);

/// kFailedPrecondition unless the job is over and holds nothing in the cloud; kStale when its
/// version has changed since it was read, or it has a new wish.
Status MayErase(const core::Job& job, std::int64_t version);

/// StateName() of the state whose core::StatusWord() it is.
std::string StateOfStatus(const std::string& status);
/// The job's row of `list`.
ports::JobSummary Summarise(const core::Job& job);
/// Deleted jobs match only on request: by `with_deleted` or by the word. A word of `states` matches
/// the state or the familiar status.
bool Matches(const ports::JobFilter& filter, const ports::JobSummary& row);

/// The lease after `holder` requested it, given the stored one; nothing when another holder's has
/// not expired and is not too far ahead.
std::optional<ports::Lease> NextLease(const ports::Lease& present, const std::string& holder,
                                      core::TimePoint now, core::Duration time_to_live);

/// The error of deliveries that a copy of a store leaves to the original.
inline constexpr const char* kLeftToOriginal = "left to the store that this one is a copy of";

base::Error NoSuchJob(core::JobId id);
base::Error Stale(core::JobId id);
base::Error GuestIsStale();
base::Error LeaseLost();

}  // namespace jobman::store
