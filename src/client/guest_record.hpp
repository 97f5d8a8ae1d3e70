#pragma once

#include <optional>
#include <string>
#include <vector>

#include "client/slice_holders.hpp"
#include "jobman/client/guests.hpp"

/// What the record of a guest becomes. Nothing here reads or writes the store.
namespace jobman::client {

using Guests = std::vector<core::Guest>;

/// The guest as recorded once they are let in to more jobs; no words mean every job. It has another
/// time then: whoever took the key away before must not take the new record for the one that they
/// settle, if the guest has left those jobs again meanwhile.
core::Guest Merged(core::Guest guest, const std::optional<core::Guest>& was);
/// What is left of the guest's jobs without `words`. kInvalidArgument for a word that the guest was
/// not let in by.
base::Result<core::Guest> Narrowed(core::Guest guest, const std::vector<std::string>& words);

/// Whether both are let in to the same of these jobs.
bool AreLetInAlike(const core::Guest& one, const core::Guest& other, const SliceHolders& holders);
/// Adds to `left_on` the jobs that had the key (`was`) and that the guest is not let in to any
/// more. One that cannot be read may have nodes of ours.
void MarkLeft(core::Guest& guest, const core::Guest& was, const SliceHolders& holders);
/// Drops from `left_on` the jobs that the guest is let in to again.
void UnmarkLetIn(core::Guest& guest, const SliceHolders& holders);
/// Drops from `left_on` the jobs that hold no slice of ours, and those all of whose nodes have been
/// dealt with.
void DropSettled(core::Guest& guest, const SliceHolders& holders,
                 const std::vector<GuestVisit>& visits);

}  // namespace jobman::client
