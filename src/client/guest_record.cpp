#include "client/guest_record.hpp"

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

namespace jobman::client {
namespace {

bool HasWord(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// Words of jobs that mean those of both; none mean every job.
std::vector<std::string> JobsOfBoth(std::vector<std::string> some, std::vector<std::string> more) {
  if (some.empty() || more.empty()) return {};
  for (std::string& word : more) {
    if (!HasWord(some, word)) some.push_back(std::move(word));
  }
  return some;
}

/// The jobs whose nodes have been dealt with, all of them.
std::set<core::JobId> SettledJobs(const std::vector<GuestVisit>& visits) {
  std::set<core::JobId> settled;
  for (const GuestVisit& visit : visits) settled.insert(visit.job);
  for (const GuestVisit& visit : visits) {
    if (visit.fate == GuestVisit::Fate::kLater || visit.fate == GuestVisit::Fate::kFailed)
      settled.erase(visit.job);
  }
  return settled;
}

bool MayHold(const SliceHolders& holders, core::JobId id) {
  const auto is_it = [&](const auto& job) { return job.id == id; };
  return std::any_of(holders.jobs.begin(), holders.jobs.end(), is_it) ||
         std::any_of(holders.unreadable.begin(), holders.unreadable.end(), is_it);
}

/// Adds to `left_on` the job if it had the key and is not let in to any more.
void MarkLeftOn(core::Guest& guest, const core::Guest& was, core::JobId id,
                const std::string& name) {
  const bool had = core::IsLetIn(was, id, name);
  if (had && !core::HasLeft(guest, id) && !core::IsLetIn(guest, id, name))
    guest.left_on.push_back(id);
}

}  // namespace

core::Guest Merged(core::Guest guest, const std::optional<core::Guest>& was) {
  if (!was) return guest;
  if (was->leaving) {
    guest.left_on = was->left_on;
    return guest;
  }
  core::Guest merged = *was;
  merged.key.comment = guest.key.comment;
  merged.jobs = JobsOfBoth(was->jobs, std::move(guest.jobs));
  if (merged.jobs != was->jobs) {
    merged.added_at = std::max(guest.added_at, was->added_at + std::chrono::milliseconds{1});
  }
  return merged;
}

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

void MarkLeft(core::Guest& guest, const core::Guest& was, const SliceHolders& holders) {
  for (const core::Job& job : holders.jobs) {
    if (!job.slice->ref.existing) MarkLeftOn(guest, was, job.id, job.name);
  }
  for (const UnreadJob& job : holders.unreadable) MarkLeftOn(guest, was, job.id, job.name);
}

void UnmarkLetIn(core::Guest& guest, const SliceHolders& holders) {
  const auto unmark = [&](const auto& job) {
    if (core::IsLetIn(guest, job.id, job.name)) std::erase(guest.left_on, job.id);
  };
  std::for_each(holders.jobs.begin(), holders.jobs.end(), unmark);
  std::for_each(holders.unreadable.begin(), holders.unreadable.end(), unmark);
}

bool AreLetInAlike(const core::Guest& one, const core::Guest& other, const SliceHolders& holders) {
  const auto alike = [&](const auto& job) {
    return core::IsLetIn(one, job.id, job.name) == core::IsLetIn(other, job.id, job.name);
  };
  return std::all_of(holders.jobs.begin(), holders.jobs.end(), alike) &&
         std::all_of(holders.unreadable.begin(), holders.unreadable.end(), alike);
}

void DropSettled(core::Guest& guest, const SliceHolders& holders,
                 const std::vector<GuestVisit>& visits) {
  const std::set<core::JobId> settled = SettledJobs(visits);
  std::erase_if(guest.left_on,
                [&](core::JobId id) { return !MayHold(holders, id) || settled.contains(id); });
}

}  // namespace jobman::client
