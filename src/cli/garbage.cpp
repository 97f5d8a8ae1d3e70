#include "cli/garbage.hpp"

#include <fmt/format.h>

#include "cli/local_cloud.hpp"
#include "jobman/base/env.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/remote/host_script.hpp"
#include "jobman/ssh/fan_out.hpp"

namespace jobman::cli {
namespace {

using base::Result;
using core::FoundSlice;
using core::Ownership;
using views::Garbage;

/// A host whose simulator or network is gone must not hold up the rest.
constexpr base::Duration kPatience = std::chrono::seconds{5};
constexpr const char* kRunsAgain = "its job runs again";

bool IsListed(const FoundSlice& found, const core::Claim& claim, const GarbageWish& wish) {
  if (found.leaving) return false;
  switch (claim.ownership) {
    case Ownership::kOrphan:
    case Ownership::kOtherStore:
      return true;
    case Ownership::kUnlabelled:
      return !wish.name_glob.empty() && base::GlobMatch(wish.name_glob, found.ref.name);
    case Ownership::kOwned:
    case Ownership::kOtherOwner:
      return false;
  }
  return false;
}

bool IsTheSame(const FoundSlice& a, const FoundSlice& b) {
  return a.labels == b.labels && a.create_time == b.create_time && a.uid == b.uid;
}

bool IsUnreadable(const Result<std::optional<core::Job>>& job) {
  return !job.ok() && job.error().reason == base::Reason::kNewerStore;
}

}  // namespace

GarbageSearch::GarbageSearch(App& app, ports::Stores stores, base::StatePaths paths)
    : app_(app),
      stores_(std::move(stores)),
      paths_(std::move(paths)),
      shell_(loop_.get_executor(), *stores_.host_keys) {}

Result<ports::SliceApi*> GarbageSearch::CloudOf(const core::CloudSpec& spec) {
  auto& cloud = clouds_[spec.endpoint];
  if (!cloud) {
    JM_ASSIGN_OR_RETURN(cloud, OpenCloud(loop_, paths_, spec));
  }
  return &cloud->slices();
}

Result<std::vector<FoundSlice>> GarbageSearch::List(const CloudPlace& place) {
  // A simulator that does not run has nothing; asking it would start it.
  if (place.cloud.endpoint == "local" && !FindLocalCloud(paths_)) return std::vector<FoundSlice>{};
  JM_ASSIGN_OR_RETURN(ports::SliceApi* const api, CloudOf(place.cloud));
  JM_ASSIGN_OR_RETURN(const auto nodes, base::RunTask(loop_, api->ListNodes(place.place)));
  JM_ASSIGN_OR_RETURN(const auto queued, base::RunTask(loop_, api->ListQueued(place.place)));
  return core::FindSlices(place.place, nodes, queued);
}

base::Task<Result<std::optional<core::Job>>> GarbageSearch::JobOf(ports::JobStore* jobs,
                                                                  core::JobId id) {
  auto job = co_await jobs->Get(id);
  if (job.ok()) co_return std::optional(std::move(job).value());
  if (job.error().code == base::Code::kNotFound) co_return std::optional<core::Job>{};
  co_return std::move(job).error();
}

Result<std::optional<core::Job>> GarbageSearch::JobOf(core::JobId id) {
  return app_.Await(JobOf(stores_.jobs, id));
}

Result<core::Claim> GarbageSearch::Judge(const FoundSlice& found) {
  JM_ASSIGN_OR_RETURN(const std::string store_id, app_.Await(stores_.jobs->StoreId()));
  core::Job anybody;
  anybody.user = base::UserName();
  std::optional<core::Job> job;
  if (const auto id = core::LabelledJob(found.labels)) {
    auto labelled = JobOf(*id);
    // Only a newer jobman can tell whether the job holds it.
    if (IsUnreadable(labelled)) {
      return core::Claim{.ownership = Ownership::kOwned, .why = labelled.error().message};
    }
    if (!labelled.ok()) return std::move(labelled).error();
    job = *std::move(labelled);
  }
  return core::JudgeSlice(found, core::OwnerLabels(anybody, store_id), job);
}

Result<Garbage> GarbageSearch::Look(const GarbageWish& wish) {
  Garbage garbage{.places = wish.places, .now = app_.Now()};
  std::vector<std::pair<CloudPlace, FoundSlice>> all;
  std::optional<base::Error> failed;
  for (const CloudPlace& place : wish.places) {
    auto found = List(place);
    if (!found.ok()) {
      base::Error error = std::move(found).error().With(fmt::format(
          "nothing is deleted: listing zone {} of {}", place.place.zone, place.place.project));
      if (failed) app_.Say("jobman: " + error.ToString());
      if (!failed) failed = std::move(error);
      continue;
    }
    for (FoundSlice& slice : *found) all.emplace_back(place, std::move(slice));
  }
  if (failed) return *std::move(failed);
  // Only now the store: see the class.
  for (auto& [place, found] : all) {
    JM_ASSIGN_OR_RETURN(core::Claim claim, Judge(found));
    if (!IsListed(found, claim, wish)) continue;
    garbage.slices.push_back(
        {.where = place, .found = std::move(found), .claim = std::move(claim)});
  }
  if (wish.hosts) JM_TRY(LookAtHosts(garbage));
  return garbage;
}

base::Status GarbageSearch::LookAtHosts(Garbage& garbage) {
  JM_ASSIGN_OR_RETURN(const auto rows, app_.Await(stores_.jobs->List({})));
  for (const ports::JobSummary& row : rows) {
    const auto found = JobOf(row.id);
    if (IsUnreadable(found)) continue;
    JM_ASSIGN_OR_RETURN(const auto job, found);
    const bool reachable = job && job->slice && job->slice->phase == core::SlicePhase::kCreated &&
                           !job->slice->hosts.empty();
    if (reachable) JM_TRY(LookAtHostsOf(*job, garbage));
  }
  return base::Ok();
}

base::Status GarbageSearch::LookAtHostsOf(const core::Job& job, Garbage& garbage) {
  JM_ASSIGN_OR_RETURN(const std::string store_id, app_.Await(stores_.jobs->StoreId()));
  std::map<int, std::string> said;
  std::vector<ssh::FanOutHost> hosts;
  for (int host = 0; host < std::ssize(job.slice->hosts); ++host) {
    JM_ASSIGN_OR_RETURN(ports::HostTarget target, TargetOf(paths_, job, host));
    const std::string runs_here = core::RunIdPrefix(core::OnHost(store_id, job, host));
    hosts.push_back({.host = host,
                     .target = std::move(target),
                     .out = [&said, host](std::string_view bytes) -> base::Status {
                       said[host].append(bytes);
                       return base::Ok();
                     },
                     .command = remote::ListCall(runs_here).command});
  }
  const auto result =
      base::RunTask(loop_, ssh::FanOut(&shell_, std::move(hosts), {}, {.patience = kPatience}));
  JM_ASSIGN_OR_RETURN(const auto now, JobOf(job.id));
  for (const ssh::HostOutcome& row : result.hosts) {
    if (!row.result.ok()) {
      garbage.silent.push_back({.job = job.id, .host = row.host, .error = row.result.error()});
      continue;
    }
    for (const std::string& run : remote::ParseRunningRuns(said[row.host])) {
      const auto on = core::OnHost(store_id, job, row.host);
      const auto why = now ? core::StrayRun(run, on, *now) : std::nullopt;
      if (why)
        garbage.runs.push_back({.job = job.id, .host = row.host, .run_id = run, .why = *why});
    }
  }
  return base::Ok();
}

/// What bears the name now; nothing when it is gone.
Result<std::optional<FoundSlice>> GarbageSearch::LookAgain(const Garbage::Slice& slice) {
  JM_ASSIGN_OR_RETURN(ports::SliceApi* const api, CloudOf(slice.where.cloud));
  const core::SliceRef& ref = slice.found.ref;
  std::vector<core::NodeSeen> nodes;
  std::vector<core::QueuedSeen> queued;
  base::Status looked = base::Ok();
  if (ref.mode == core::AllocationMode::kQueuedResources) {
    auto seen = base::RunTask(loop_, api->GetQueued(ref.place, ref.name));
    if (seen.ok()) queued.push_back(std::move(*seen));
    if (!seen.ok()) looked = std::move(seen).error();
  } else {
    auto seen = base::RunTask(loop_, api->GetNode(ref.place, ref.name));
    if (seen.ok()) nodes.push_back(std::move(*seen));
    if (!seen.ok()) looked = std::move(seen).error();
  }
  if (!looked.ok() && looked.error().code == base::Code::kNotFound) {
    return std::optional<FoundSlice>{};
  }
  JM_TRY(std::move(looked));
  return std::optional(core::FindSlices(ref.place, nodes, queued).front());
}

base::Status GarbageSearch::TryRemove(Garbage::Slice& slice) {
  JM_ASSIGN_OR_RETURN(const auto now, LookAgain(slice));
  slice.fate = Garbage::Fate::kGone;
  if (!now || now->leaving) return base::Ok();
  slice.fate = Garbage::Fate::kSpared;
  if (!IsTheSame(*now, slice.found)) {
    slice.claim.why = "another one bears the name by now, or its labels were changed";
    return base::Ok();
  }
  JM_ASSIGN_OR_RETURN(core::Claim claim, Judge(*now));
  const bool changed = claim.ownership != slice.claim.ownership;
  slice.claim = std::move(claim);
  if (changed) return base::Ok();
  JM_ASSIGN_OR_RETURN(ports::SliceApi* const api, CloudOf(slice.where.cloud));
  const auto deleted = base::RunTask(loop_, api->Delete(slice.found.ref));
  const bool gone = !deleted.ok() && deleted.error().code == base::Code::kNotFound;
  if (!deleted.ok() && !gone) return deleted.error();
  slice.fate = gone ? Garbage::Fate::kGone : Garbage::Fate::kDeleted;
  return base::Ok();
}

void GarbageSearch::Remove(Garbage::Slice& slice) {
  auto done = TryRemove(slice);
  if (done.ok()) return;
  slice.fate = Garbage::Fate::kFailed;
  slice.error = std::move(done).error();
}

base::Task<base::Status> GarbageSearch::IsStillStray(ports::JobStore* jobs, core::JobOnHost on,
                                                     std::string run_id) {
  JM_CO_ASSIGN_OR_RETURN(const auto job, co_await JobOf(jobs, on.job));
  if (job && core::StrayRun(run_id, on, *job)) co_return base::Ok();
  base::Error again{.code = base::Code::kAborted, .message = kRunsAgain};
  co_return again;
}

base::Status GarbageSearch::TryStop(Garbage::Run& run) {
  JM_ASSIGN_OR_RETURN(const std::string store_id, app_.Await(stores_.jobs->StoreId()));
  JM_ASSIGN_OR_RETURN(const auto job, JobOf(run.job));
  run.fate = Garbage::Fate::kGone;
  const int hosts = job && job->slice ? static_cast<int>(job->slice->hosts.size()) : 0;
  if (run.host >= hosts) return base::Ok();  // with its host
  run.fate = Garbage::Fate::kSpared;
  const core::JobOnHost on = core::OnHost(store_id, *job, run.host);
  const auto why = core::StrayRun(run.run_id, on, *job);
  if (!why) {
    run.why = kRunsAgain;
    return base::Ok();
  }
  JM_ASSIGN_OR_RETURN(ports::HostTarget target, TargetOf(paths_, *job, run.host));
  std::string said;
  const ports::ByteSink take = [&said](std::string_view bytes) -> base::Status {
    said.append(bytes);
    return base::Ok();
  };
  ports::RemoteCommand stop{.command =
                                remote::StopCall(run.run_id, job->spec.command.grace).command};
  // Logging in takes a while: meanwhile the job may have been started again, on this run.
  stop.may_begin = [jobs = stores_.jobs, run, on] { return IsStillStray(jobs, on, run.run_id); };
  JM_TRY(base::RunTask(loop_, shell_.Run(std::move(target), stop, take, take)));
  JM_ASSIGN_OR_RETURN(const remote::RunStatus status, remote::ParseStatus(said));
  const bool ended = status.kind == remote::RunStatus::Kind::kExited ||
                     status.kind == remote::RunStatus::Kind::kLost;
  if (!ended) return base::Internal("the host answered " + said);
  run.fate = Garbage::Fate::kDeleted;
  return base::Ok();
}

void GarbageSearch::Stop(Garbage::Run& run) {
  auto done = TryStop(run);
  if (done.ok()) return;
  run.fate = Garbage::Fate::kFailed;
  run.error = std::move(done).error();
}

}  // namespace jobman::cli
