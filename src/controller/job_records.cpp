// How JobBook reads records, and sets aside those it cannot use.
#include <algorithm>
#include <utility>

#include "controller/job_book.hpp"
#include "jobman/base/log.hpp"
#include "jobman/ports/records.hpp"

namespace jobman::controller {

using base::LogLevel;
using core::Job;
using core::JobId;

base::Task<base::Status> JobBook::Load() {
  JM_CO_ASSIGN_OR_RETURN(const auto active, co_await ports_.stores.jobs->ActiveVersions());
  std::map<JobId, std::int64_t> to_read;
  for (const auto& [id, entry] : entries_) to_read[id] = entry->job.version;
  for (const ports::JobVersion& job : active) {
    const bool known = to_read.contains(job.id) && to_read[job.id] >= job.version;
    const auto aside = set_aside_.find(job.id);
    const bool of_no_use = aside != set_aside_.end() && aside->second == job.version;
    to_read[job.id] = job.version;
    if (known || of_no_use) to_read.erase(job.id);
  }
  std::erase_if(set_aside_, [&](const auto& one) {
    return std::none_of(active.begin(), active.end(),
                        [&](const ports::JobVersion& job) { return job.id == one.first; });
  });
  // Entries that are no longer active are read too: they may have been erased.
  base::Status all = base::Ok();
  for (const auto& [id, version] : to_read) {
    base::Status loaded = co_await LoadOne(id);
    if (!loaded.ok()) all = std::move(loaded);
  }
  if (all.ok() && !std::exchange(complete_, true)) AskWhoWaits();
  co_return all;
}

/// For a place in its group.
void JobBook::AskWhoWaits() {
  for (const auto& [id, entry] : entries_) {
    const bool waits = std::holds_alternative<core::Queued>(entry->job.state);
    if (waits && entry->job.spec.max_running) Post(id, core::Tick{});
  }
}

base::Task<base::Status> JobBook::LoadOne(JobId id) {
  if (const EntryPtr entry = EntryOf(id); entry && entry->recording) {
    entry->outdated = true;
    co_return base::Ok();
  }
  JM_CO_ASSIGN_OR_RETURN(auto job, co_await Fetch(id));
  if (job) Adopt(*std::move(job));
  co_return base::Ok();
}

/// The job; nothing if its record is gone or cannot be used (it is dropped or set aside then).
base::Task<base::Result<std::optional<Job>>> JobBook::Fetch(JobId id) {
  const auto job = co_await ports_.stores.jobs->Get(id);
  if (job.ok()) {
    const auto flaw = hooks_.flaw_of(*job);
    if (!flaw) co_return std::optional(*job);
    const ports::JobVersion flawed{.id = id, .version = job->version};
    co_await SetAside(flawed, "its record contradicts itself: " + *flaw);
    co_return std::optional<Job>{};
  }
  if (job.error().code == base::Code::kNotFound) {
    Drop(id);
    co_return std::optional<Job>{};
  }
  if (!ports::IsUnusable(job.error())) co_return job.error();
  JM_CO_ASSIGN_OR_RETURN(const auto active, co_await ports_.stores.jobs->ActiveVersions());
  for (const ports::JobVersion& seen : active) {
    if (seen.id == id) co_await SetAside(seen, job.error().message);
  }
  co_return std::optional<Job>{};
}

void JobBook::Adopt(Job job) {
  EntryPtr entry = EntryOf(job.id);
  const bool fresh = entry == nullptr;
  if (fresh && !core::NeedsCare(job)) return;
  if (fresh) {
    entry = entries_[job.id] = std::make_shared<Entry>();
    set_aside_.erase(job.id);
    holds_.Recall(job);
  }
  if (entry->recording) entry->outdated = true;
  if (entry->recording || (!fresh && entry->job.version >= job.version)) return;
  entry->job = std::move(job);
  const JobId id = entry->job.id;
  if (fresh) HandOutImplied(entry->job);
  Post(id, core::Tick{});
}

/// Leaves one job alone; all others go on. The reason is logged once, and shown in `list`.
base::Task<void> JobBook::SetAside(ports::JobVersion job, std::string why) {
  set_aside_[job.id] = job.version;
  if (entries_.erase(job.id) > 0) hooks_.dropped(job.id);
  const std::string said = "this jobman leaves the job alone: " + why;
  base::Log(LogLevel::kError, "loop", "job {}: {}", core::FormatJobId(job.id), said);
  const auto told = co_await ports_.stores.jobs->SetAside(job, said, lease_token_);
  if (told.ok()) co_return;
  base::Log(LogLevel::kError, "store", "job {}: cannot record that: {}", core::FormatJobId(job.id),
            told.error().ToString());
}

/// Somebody erased the record of an active job.
void JobBook::Drop(JobId id) {
  set_aside_.erase(id);
  if (entries_.erase(id) == 0) return;
  base::Log(LogLevel::kWarn, "loop",
            "job {}: its record was erased, so nothing more is done for it", core::FormatJobId(id));
  hooks_.dropped(id);
}

/// Reads the job again after somebody else wrote it, and has it looked at.
base::Task<base::Status> JobBook::Reload(EntryPtr entry) {
  JM_CO_ASSIGN_OR_RETURN(auto job, co_await Fetch(entry->job.id));
  if (!job || !IsInBook(entry) || job->version <= entry->job.version) co_return base::Ok();
  entry->job = *std::move(job);
  if (entry->inbox.empty()) entry->inbox.push_back(core::Tick{});
  co_return base::Ok();
}

}  // namespace jobman::controller
