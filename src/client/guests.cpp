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

bool IsSameGuest(const core::Guest& one, const core::Guest& other) {
  return one.user == other.user && one.key.type == other.key.type && one.key.data == other.key.data;
}

std::optional<core::Guest> RecordOf(const Guests& guests, const core::Guest& guest) {
  const auto found = std::find_if(guests.begin(), guests.end(),
                                  [&](const core::Guest& one) { return IsSameGuest(one, guest); });
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

/// Drops from `left_on` the jobs that are settled or hold no slice of ours; the record goes with
/// the last of them if the guest is leaving.
base::Task<base::Result<GuestChange>> Settle(ports::GuestStore* store, core::Guest guest,
                                             std::vector<core::Job> jobs,
                                             std::vector<GuestVisit> visits) {
  const std::set<core::JobId> settled = SettledJobs(visits);
  GuestChange change{.guest = guest, .visits = std::move(visits)};
  std::erase_if(change.guest.left_on, [&](core::JobId id) {
    const bool held =
        std::any_of(jobs.begin(), jobs.end(), [&](const core::Job& job) { return job.id == id; });
    return !held || settled.contains(id);
  });
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

/// The jobs that had the key and are not let in to any more.
void MarkLeft(core::Guest& guest, const core::Guest& was, const std::vector<core::Job>& jobs) {
  for (const core::Job& job : jobs) {
    const bool had = core::IsLetIn(was, job.id, job.name) && !job.slice->ref.existing;
    const bool known =
        std::find(guest.left_on.begin(), guest.left_on.end(), job.id) != guest.left_on.end();
    if (had && !known && !core::IsLetIn(guest, job.id, job.name)) guest.left_on.push_back(job.id);
  }
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
  JM_CO_ASSIGN_OR_RETURN(auto jobs, co_await JobsWithSlices(context));
  std::erase_if(now.left_on, [&](core::JobId id) {
    return std::any_of(jobs.begin(), jobs.end(), [&](const core::Job& job) {
      return job.id == id && core::IsLetIn(now, id, job.name);
    });
  });
  if (was != now) {
    JM_CO_TRY(co_await store->SetGuest(was, now));
  }
  auto visits = co_await VisitNodes(std::move(context), now, jobs);
  co_return co_await Settle(store, std::move(now), std::move(jobs), std::move(visits));
}

base::Task<base::Result<GuestChange>> TakeAway(Context context, core::Guest guest,
                                               std::vector<std::string> words) {
  ports::GuestStore* const store = context.stores.guests;
  JM_CO_ASSIGN_OR_RETURN(core::Guest now, Narrowed(guest, words));
  JM_CO_ASSIGN_OR_RETURN(auto jobs, co_await JobsWithSlices(context));
  MarkLeft(now, guest, jobs);
  JM_CO_TRY(co_await store->SetGuest(guest, now));
  // A slice is recorded before it is requested, and who is let in is read in between: those that
  // are recorded from now on are requested without the key.
  JM_CO_ASSIGN_OR_RETURN(jobs, co_await JobsWithSlices(context));
  core::Guest marked = now;
  MarkLeft(marked, guest, jobs);
  if (marked != now) {
    JM_CO_TRY(co_await store->SetGuest(now, marked));
  }
  auto visits = co_await VisitNodes(std::move(context), marked, jobs);
  co_return co_await Settle(store, std::move(marked), std::move(jobs), std::move(visits));
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
