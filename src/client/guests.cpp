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

/// Drops from `left_on` the jobs that are settled or hold no slice of ours; the record goes with
/// the last of them if the guest is leaving.
base::Task<base::Result<GuestChange>> Settle(ports::GuestStore* store, core::Guest guest,
                                             SliceHolders holders, std::vector<GuestVisit> visits) {
  GuestChange change{.guest = guest, .visits = std::move(visits)};
  DropSettled(change.guest, holders, change.visits);
  change.forgotten = change.guest.leaving && change.guest.left_on.empty();
  if (change.guest == guest && !change.forgotten) co_return change;
  std::optional<core::Guest> now;
  if (!change.forgotten) now = change.guest;
  auto set = co_await store->SetGuest(std::move(guest), std::move(now));
  // The controller of a job was first, which is as well.
  if (!set.ok() && set.error().reason != base::Reason::kStale) co_return std::move(set).error();
  change.forgotten = change.forgotten && set.ok();
  co_return change;
}

/// The guest's record, if another command has taken the key away from some of these jobs while
/// their nodes were visited, marked with those jobs: the nodes may have got the key afterwards.
base::Task<base::Result<std::optional<core::Guest>>> TakenMeanwhile(ports::GuestStore* store,
                                                                    core::Guest guest,
                                                                    SliceHolders holders) {
  core::Guest gone = guest;
  gone.leaving = true;
  base::Status set = base::Ok();
  for (int tries = 0; tries < kReadsOfRecord; ++tries) {
    JM_CO_ASSIGN_OR_RETURN(const Guests guests, co_await store->Guests());
    auto found = RecordOf(guests, guest);
    const core::Guest now = found.value_or(gone);
    core::Guest marked = now;
    MarkLeft(marked, guest, holders);
    const bool agrees =
        std::none_of(marked.left_on.begin(), marked.left_on.end(), [&](core::JobId id) {
          return std::find(guest.left_on.begin(), guest.left_on.end(), id) == guest.left_on.end();
        });
    if (agrees) co_return std::nullopt;
    set = co_await store->SetGuest(std::move(found), marked);
    if (set.ok()) co_return marked;
    if (set.error().reason != base::Reason::kStale) break;
  }
  co_return std::move(set).error();
}

}  // namespace

std::string_view FateName(GuestVisit::Fate fate) {
  switch (fate) {
    case Fate::kDone:
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
  const std::optional<core::Guest> was = RecordOf(guests, guest);
  core::Guest now = Merged(std::move(guest), was);
  JM_CO_ASSIGN_OR_RETURN(auto holders, co_await JobsWithSlices(context));
  UnmarkLetIn(now, holders);
  if (was != now) {
    JM_CO_TRY(co_await store->SetGuest(was, now));
  }
  auto visits = co_await VisitNodes(context, now, holders);
  // Whoever takes the key away meanwhile may have been at a node first.
  JM_CO_ASSIGN_OR_RETURN(auto taken, co_await TakenMeanwhile(store, now, holders));
  if (taken) {
    now = *std::move(taken);
    visits = co_await VisitNodes(std::move(context), now, holders);
  }
  co_return co_await Settle(store, std::move(now), std::move(holders), std::move(visits));
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
  core::Guest marked = now;
  MarkLeft(marked, guest, holders);
  if (marked != now) {
    JM_CO_TRY(co_await store->SetGuest(now, marked));
  }
  auto visits = co_await VisitNodes(std::move(context), marked, holders);
  co_return co_await Settle(store, std::move(marked), std::move(holders), std::move(visits));
}

}  // namespace jobman::client
