#include "jobman/client/store_site.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include "client/left_tasks.hpp"
#include "jobman/base/random.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/core/attempt.hpp"

namespace jobman::client {
namespace {

using base::Result;
using base::Status;
using base::Task;
using core::Site;

constexpr int kIdBytes = 6;  // as in the store's first migration

base::Error Elsewhere(const Site& here, const Site& known) {
  const std::string now = core::SiteText(here);
  const std::string then = core::SiteText(known);
  return {
      .code = base::Code::kFailedPrecondition,
      .message = "this store was moved or copied: " +
                 (now == then ? fmt::format("it is not the file that was used in {}", then)
                              : fmt::format("it was used in {}, and is in {}", then, now)),
      .reason = base::Reason::kCopiedStore,
      .hint = "if it was moved: jobman store adopt; if it is a copy: jobman store adopt --new-id"};
}

/// The original is still where it was: when one file system is a snapshot of another, the inode
/// does not tell their files apart.
bool IsSnapshot(const Site& here, const Site& known) {
  const base::Path there = base::Path(known.path) / "jobman.db";
  struct stat original = {};
  struct stat file = {};
  return here.path != known.path && ::stat(there.c_str(), &original) == 0 &&
         ::stat((base::Path(here.path) / "jobman.db").c_str(), &file) == 0 &&
         original.st_ino == known.file && original.st_ino == file.st_ino &&
         original.st_dev != file.st_dev;
}

/// The turn that leaves the job to the original store; nothing when it has nothing to leave.
std::optional<ports::Turn> TurnOf(const core::Job& job, base::TimePoint now) {
  auto left = core::LeftToOriginal(job, now);
  if (!left) return std::nullopt;
  ports::Turn turn;
  turn.events.push_back({.at = now,
                         .job = job.id,
                         .attempt = job.attempt,
                         .kind = "state",
                         .subject = std::string(core::StateName(left->state)),
                         .text = left->why});
  if (job.attempt > 0 && !job.attempt_end && left->attempt_end) {
    turn.attempts.push_back({.job = job.id,
                             .attempt = job.attempt,
                             .slice = job.slice ? job.slice->ref.name : std::string{},
                             .zone = job.spec.tpu.zone,
                             .ended_at = now,
                             .outcome = core::AttemptEndText(*left->attempt_end)});
  }
  turn.job = *std::move(left);
  return turn;
}

Task<Result<std::vector<ports::Turn>>> TurnsOf(ports::JobStore* jobs, base::TimePoint now) {
  std::vector<ports::Turn> turns;
  JM_CO_ASSIGN_OR_RETURN(const auto active, co_await jobs->ActiveVersions());
  for (const ports::JobVersion& one : active) {
    JM_CO_ASSIGN_OR_RETURN(const core::Job job, co_await jobs->Get(one.id));
    if (auto turn = TurnOf(job, now)) turns.push_back(*std::move(turn));
  }
  co_return turns;
}

}  // namespace

Task<Status> CheckSite(Context context, bool record) {
  if (!context.look_at_site) co_return base::Ok();
  ports::SiteStore& store = *context.stores.sites;
  JM_CO_ASSIGN_OR_RETURN(const auto known, co_await store.Sites());
  const Site here = context.look_at_site(context.paths);
  if (known.empty()) {
    if (!record) co_return base::Ok();
    std::vector<Site> first = {here};
    co_return co_await store.SetSites(std::move(first));
  }
  const auto found = core::FindSite(here, known);
  if (!found) co_return Elsewhere(here, known.back());
  const Site& as_recorded = known[*found];
  if (as_recorded.machine == here.machine && IsSnapshot(here, as_recorded)) {
    co_return Elsewhere(here, as_recorded);
  }
  const bool moved = as_recorded.path != here.path || as_recorded.file != here.file;
  // Through another machine's view of the same file nothing has moved.
  if (!record || !moved || as_recorded.machine != here.machine) co_return base::Ok();
  std::vector<Site> updated = known;
  updated.erase(updated.begin() + static_cast<std::ptrdiff_t>(*found));
  updated = core::WithSite(std::move(updated), here);
  co_return co_await store.SetSites(std::move(updated));
}

Task<Result<Adopted>> AdoptStore(Context context) {
  ports::SiteStore& store = *context.stores.sites;
  Adopted adopted{.site = context.look_at_site(context.paths)};
  JM_CO_ASSIGN_OR_RETURN(adopted.store_id, co_await context.stores.jobs->StoreId());
  JM_CO_ASSIGN_OR_RETURN(const auto known, co_await store.Sites());
  adopted.was_known = core::FindSite(adopted.site, known).has_value();
  std::vector<Site> sites = core::WithSite(known, adopted.site);
  JM_CO_TRY(co_await store.SetSites(std::move(sites)));
  co_return adopted;
}

Task<Result<Adopted>> AdoptCopy(Context context) {
  ports::SiteStore& store = *context.stores.sites;
  Adopted adopted{.store_id = base::RandomHex(kIdBytes),
                  .site = context.look_at_site(context.paths)};
  JM_CO_ASSIGN_OR_RETURN(const auto known, co_await store.Sites());
  JM_CO_ASSIGN_OR_RETURN(auto turns, co_await TurnsOf(context.stores.jobs, context.Now()));
  JM_CO_TRY(co_await LeaveTasks(context.stores.queues, &turns, context.Now()));
  for (const ports::Turn& turn : turns) adopted.left.push_back(turn.job.id);
  const bool at_home = known.empty() || core::FindSite(adopted.site, known).has_value();
  if (at_home && !turns.empty()) {
    base::Error error{
        .code = base::Code::kFailedPrecondition,
        .message = fmt::format("this store is where it was made, so nobody else would have {}",
                               base::Plural(std::ssize(turns), "job") + " that it would give up"),
        .hint = "jobman list shows them; delete them first if you want a new id all the same"};
    co_return error;
  }
  JM_CO_TRY(co_await store.BecomeAnother(adopted.store_id, adopted.site, std::move(turns)));
  co_return adopted;
}

}  // namespace jobman::client
