#include "jobman/client/guests.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "client/guest_visits.hpp"
#include "jobman/base/strings.hpp"

namespace jobman::client {
namespace {

using Fate = GuestVisit::Fate;
using Guests = std::vector<core::Guest>;

/// How often a record that others change meanwhile is read again.
constexpr int kReadsOfRecord = 3;

std::optional<core::Guest> RecordOf(const Guests& guests, const core::Guest& guest) {
  const auto found = std::find_if(guests.begin(), guests.end(), [&](const core::Guest& one) {
    return core::IsSameLogin(one, guest);
  });
  return found == guests.end() ? std::nullopt : std::optional(*found);
}

bool HasWord(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// The guest as recorded once they are let in to more jobs; no words mean every job.
core::Guest Merged(core::Guest guest, const std::optional<core::Guest>& was) {
  if (!was) return guest;
  if (was->leaving) {
    guest.left_on = was->left_on;
    return guest;
  }
  core::Guest merged = *was;
  merged.key.comment = guest.key.comment;
  if (merged.jobs.empty() || guest.jobs.empty()) {
    merged.jobs.clear();
    return merged;
  }
  for (std::string& word : guest.jobs) {
    if (!HasWord(merged.jobs, word)) merged.jobs.push_back(std::move(word));
  }
  return merged;
}

base::Task<base::Status> CheckNumbers(ports::JobStore* jobs, std::vector<std::string> words) {
  for (const std::string& word : words) {
    const auto number = base::ParseNumber(word);
    if (!number) continue;
    const auto job = co_await jobs->Get(core::JobId{*number});
    if (!job.ok()) co_return job.error();
  }
  co_return base::Ok();
}

/// The jobs whose nodes have been dealt with, all of them.
std::set<core::JobId> SettledJobs(const std::vector<GuestVisit>& visits) {
  std::set<core::JobId> settled;
  for (const GuestVisit& visit : visits) settled.insert(visit.job);
  for (const GuestVisit& visit : visits) {
    if (visit.fate == Fate::kLater || visit.fate == Fate::kFailed) settled.erase(visit.job);
  }
  return settled;
}

bool MayHold(const SliceHolders& holders, core::JobId id) {
  const auto is_it = [&](const auto& job) { return job.id == id; };
  return std::any_of(holders.jobs.begin(), holders.jobs.end(), is_it) ||
         std::any_of(holders.unreadable.begin(), holders.unreadable.end(), is_it);
}

/// Drops from `left_on` the jobs that are settled or hold no slice of ours; the record goes with
/// the last of them if the guest is leaving.
base::Task<base::Result<GuestChange>> Settle(ports::GuestStore* store, core::Guest guest,
                                             SliceHolders holders, std::vector<GuestVisit> visits) {
  const std::set<core::JobId> settled = SettledJobs(visits);
  GuestChange change{.guest = guest, .visits = std::move(visits)};
  std::erase_if(change.guest.left_on,
                [&](core::JobId id) { return !MayHold(holders, id) || settled.contains(id); });
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

/// What is left of the guest's jobs without `words`.
base::Result<core::Guest> Narrowed(core::Guest guest, const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (guest.jobs.empty() && !guest.leaving) {
      return base::InvalidArgument(guest.user + " is let in to every job, not only to " + word,
                                   "remove the key, then: jobman keys add ... --job PATTERN");
    }
    if (std::erase(guest.jobs, word) == 0) {
      return base::InvalidArgument(guest.user + " was not let in by \"" + word + '"',
                                   "jobman keys list shows by what");
    }
  }
  guest.leaving = guest.leaving || words.empty() || guest.jobs.empty();
  return guest;
}

/// Adds to `left_on` the job if it had the key and is not let in to any more.
void MarkLeftOn(core::Guest& guest, const core::Guest& was, core::JobId id,
                const std::string& name) {
  const bool had = core::IsLetIn(was, id, name);
  const bool known =
      std::find(guest.left_on.begin(), guest.left_on.end(), id) != guest.left_on.end();
  if (had && !known && !core::IsLetIn(guest, id, name)) guest.left_on.push_back(id);
}

/// The same for all of them. One that cannot be read may have nodes of ours.
void MarkLeft(core::Guest& guest, const core::Guest& was, const SliceHolders& holders) {
  for (const core::Job& job : holders.jobs) {
    if (!job.slice->ref.existing) MarkLeftOn(guest, was, job.id, job.name);
  }
  for (const UnreadJob& job : holders.unreadable) MarkLeftOn(guest, was, job.id, job.name);
}

/// Drops from `left_on` the jobs that the guest is let in to again.
void UnmarkLetIn(core::Guest& guest, const SliceHolders& holders) {
  const auto unmark = [&](const auto& job) {
    if (core::IsLetIn(guest, job.id, job.name)) std::erase(guest.left_on, job.id);
  };
  std::for_each(holders.jobs.begin(), holders.jobs.end(), unmark);
  std::for_each(holders.unreadable.begin(), holders.unreadable.end(), unmark);
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

std::string WithoutHashName(std::string_view print) {
  constexpr std::string_view kHash = "SHA256:";
  return std::string(print.starts_with(kHash) ? print.substr(kHash.size()) : print);
}

constexpr std::size_t kLeastOfFingerprint = 6;

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

base::Result<std::vector<core::Guest>> FindGuests(const std::vector<core::Guest>& guests,
                                                  const std::string& word,
                                                  const std::string& user) {
  const std::string print = WithoutHashName(word);
  Guests exact;
  Guests begins;
  std::set<std::string> prints;
  for (const core::Guest& guest : guests) {
    if (!user.empty() && guest.user != user) continue;
    const std::string its = WithoutHashName(core::FingerprintOf(guest.key));
    const bool named = word == guest.user || (!word.empty() && word == guest.key.comment);
    if (its == print || named) {
      exact.push_back(guest);
    } else if (print.size() >= kLeastOfFingerprint && its.starts_with(print)) {
      begins.push_back(guest);
      prints.insert(its);
    }
  }
  if (!exact.empty()) return exact;
  if (prints.size() > 1)
    return base::InvalidArgument("several keys begin with \"" + word + '"', "write more of it");
  if (!begins.empty()) return begins;
  return base::NotFound("no guest has the key, the name or the comment \"" + word + '"',
                        "jobman keys list shows who is let in");
}

}  // namespace jobman::client
