#include "jobman/client/guests.hpp"

#include <algorithm>
#include <utility>

#include "client/guest_record.hpp"
#include "client/guest_visits.hpp"
#include "jobman/base/strings.hpp"

namespace jobman::client {
namespace {

using Fate = GuestVisit::Fate;

/// How often a record that others change meanwhile is read again.
constexpr int kReadsOfRecord = 3;

base::Task<base::Status> CheckNumbers(ports::JobStore* jobs, std::vector<std::string> words) {
  for (const std::string& word : words) {
    const auto number = base::ParseNumber(word);
    if (!number) continue;
    const auto job = co_await jobs->Get(core::JobId{*number});
    if (!job.ok()) co_return job.error();
  }
  co_return base::Ok();
}

/// Has the record name the jobs of `left.left_on` whose nodes failed: another command may have
/// struck them off before the key came back to the nodes.
base::Task<base::Status> KeepFailed(ports::GuestStore* store, core::Guest left,
                                    std::vector<GuestVisit> visits) {
  base::Status set = base::Ok();
  for (int tries = 0; tries < kReadsOfRecord; ++tries) {
    JM_CO_ASSIGN_OR_RETURN(const Guests guests, co_await store->Guests());
    auto found = core::FindLogin(guests, left);
    core::Guest next = found.value_or(left);
    if (!found) {
      next.leaving = true;
      next.left_on.clear();
    }
    for (const GuestVisit& visit : visits) {
      const bool fails = visit.fate == Fate::kFailed && core::HasLeft(left, visit.job);
      const bool is_in = core::IsLetIn(next, visit.job, visit.name);
      if (fails && !is_in && !core::HasLeft(next, visit.job)) next.left_on.push_back(visit.job);
    }
    if (found ? next == *found : next.left_on.empty()) co_return base::Ok();
    set = co_await store->SetGuest(std::move(found), std::move(next));
    if (set.ok() || set.error().reason != base::Reason::kStale) break;
  }
  co_return set;
}

/// Drops from `left_on` the jobs that are settled or hold no slice of ours; the record goes with
/// the last of them if the guest is leaving.
base::Task<base::Result<GuestChange>> Settle(ports::GuestStore* store, core::Guest guest,
                                             SliceHolders holders, std::vector<GuestVisit> visits) {
  GuestChange change{.guest = guest, .visits = std::move(visits)};
  DropSettled(change.guest, holders, change.visits);
  change.forgotten = change.guest.leaving && change.guest.left_on.empty();
  JM_CO_TRY(co_await KeepFailed(store, change.guest, change.visits));
  if (change.guest == guest && !change.forgotten) co_return change;
  std::optional<core::Guest> now;
  if (!change.forgotten) now = change.guest;
  auto set = co_await store->SetGuest(std::move(guest), std::move(now));
  // The controller of a job was first, which is as well.
  if (!set.ok() && set.error().reason != base::Reason::kStale) co_return std::move(set).error();
  change.forgotten = change.forgotten && set.ok();
  co_return change;
}

/// The guest's record, if it lets them in to other ones of these jobs than `guest`: another command
/// changed that while their nodes were visited, and may have been at a node first. Marked with the
/// jobs that the guest has left, whose nodes may have got the key afterwards.
base::Task<base::Result<std::optional<core::Guest>>> ChangedMeanwhile(ports::GuestStore* store,
                                                                      core::Guest guest,
                                                                      SliceHolders holders) {
  core::Guest gone = guest;
  gone.leaving = true;
  base::Status set = base::Ok();
  for (int tries = 0; tries < kReadsOfRecord; ++tries) {
    JM_CO_ASSIGN_OR_RETURN(const Guests guests, co_await store->Guests());
    auto found = core::FindLogin(guests, guest);
    const core::Guest now = found.value_or(gone);
    core::Guest marked = now;
    MarkLeft(marked, guest, holders);
    if (AreLetInAlike(guest, now, holders)) co_return std::nullopt;
    if (found && marked == *found) co_return marked;
    set = co_await store->SetGuest(std::move(found), marked);
    if (set.ok()) co_return marked;
    if (set.error().reason != base::Reason::kStale) break;
  }
  co_return std::move(set).error();
}

base::Error ChangesTooOften(const core::Guest& guest) {
  return {.code = base::Code::kAborted,
          .message = "other commands changed where " + guest.user +
                     " is let in, again and again, while the nodes were visited",
          .reason = base::Reason::kStale,
          .hint = "repeat the command once they have ended"};
}

/// Visits the nodes and settles the record. Whoever writes last to a node must agree with the
/// record, which others change meanwhile, so it is read again afterwards.
base::Task<base::Result<GuestChange>> BringInLine(Context context, core::Guest guest,
                                                  SliceHolders holders) {
  ports::GuestStore* const store = context.stores.guests;
  for (int tries = 0; tries < kReadsOfRecord; ++tries) {
    auto visits = co_await VisitNodes(context, guest, holders);
    JM_CO_ASSIGN_OR_RETURN(auto changed, co_await ChangedMeanwhile(store, guest, holders));
    if (!changed) {
      co_return co_await Settle(store, std::move(guest), std::move(holders), std::move(visits));
    }
    guest = *std::move(changed);
  }
  co_return ChangesTooOften(guest);
}

}  // namespace

std::string_view FateName(GuestVisit::Fate fate) {
  switch (fate) {
    case Fate::kSettled:
      return "done";
    case Fate::kLater:
      return "later";
    case Fate::kLeft:
      return "left";
    case Fate::kFailed:
      return "failed";
  }
  return "failed";
}

base::Task<base::Result<GuestChange>> LetIn(Context context, core::Guest guest) {
  JM_CO_TRY(co_await CheckNumbers(context.stores.jobs, guest.jobs));
  ports::GuestStore* const store = context.stores.guests;
  JM_CO_ASSIGN_OR_RETURN(const Guests guests, co_await store->Guests());
  const std::optional<core::Guest> was = core::FindLogin(guests, guest);
  core::Guest now = Merged(std::move(guest), was);
  JM_CO_ASSIGN_OR_RETURN(auto holders, co_await JobsWithSlices(context));
  UnmarkLetIn(now, holders);
  if (was != now) {
    JM_CO_TRY(co_await store->SetGuest(was, now));
  }
  co_return co_await BringInLine(std::move(context), std::move(now), std::move(holders));
}

base::Status CheckLetInBy(const core::Guest& guest, const std::vector<std::string>& words) {
  const auto narrowed = Narrowed(guest, words);
  return narrowed.ok() ? base::Ok() : base::Status(narrowed.error());
}

base::Task<base::Result<GuestChange>> TakeAway(Context context, core::Guest guest,
                                               std::vector<std::string> words) {
  ports::GuestStore* const store = context.stores.guests;
  JM_CO_ASSIGN_OR_RETURN(core::Guest now, Narrowed(guest, words));
  JM_CO_ASSIGN_OR_RETURN(auto holders, co_await JobsWithSlices(context));
  MarkLeft(now, guest, holders);
  JM_CO_TRY(co_await store->SetGuest(guest, now));
  // A slice is recorded before it is requested, and who is let in is read in between: those that
  // are recorded from now on are requested without the key.
  JM_CO_ASSIGN_OR_RETURN(holders, co_await JobsWithSlices(context));
  JM_CO_ASSIGN_OR_RETURN(auto marked, co_await ChangedMeanwhile(store, guest, holders));
  if (marked) now = *std::move(marked);
  co_return co_await BringInLine(std::move(context), std::move(now), std::move(holders));
}

}  // namespace jobman::client
