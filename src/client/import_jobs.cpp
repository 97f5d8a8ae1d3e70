#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "client/import_parts.hpp"
#include "jobman/base/file_times.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/config/load.hpp"
#include "jobman/controller/job_folder.hpp"
#include "jobman/ssh/keys.hpp"

namespace jobman::client {
namespace {

using base::Path;
using base::Result;

/// The job file of the entry, with its slice if `node` is not empty. Its relative paths are those
/// of the folder in which the old tool was run.
config::LoadResult LoadEntry(const Context& context, const ImportOrder& order,
                             const config::OldFolder& old, const config::OldEntry& entry,
                             const std::string& node) {
  config::LoadRequest request{.file = old.dir / "config.yaml",
                              .sets = order.sets,
                              .set_files = order.set_files,
                              .endpoint = order.endpoint,
                              .may_lack_project = true,
                              .defaults = config::SystemDefaults(context.paths.home)};
  if (entry.worker) {
    request.text = config::WorkerFileText(*entry.worker);
  } else {
    auto text = base::ReadRegularFile(entry.config_file);
    if (!text.ok()) {
      return {.problems = {config::Problem{.message = text.error().message}}};
    }
    request.text = *std::move(text);
  }
  if (!node.empty()) request.sets.push_back("tpu.existing=" + node);
  return config::Load(request);
}

/// "config.yaml:3: unknown key ..."
std::string WhyNot(const config::OldEntry& entry, const config::LoadResult& read) {
  const config::Problem& problem = read.problems.front();
  if (problem.file.empty()) return problem.message;  // the file cannot be read
  const std::string file =
      entry.worker ? "worker " + entry.name : entry.config_file.filename().string();
  const std::string place = problem.line > 0 ? fmt::format("{}:{}", file, problem.line) : file;
  const std::string more = read.problems.size() > 1
                               ? fmt::format(" (and {} more)", read.problems.size() - 1)
                               : std::string();
  return place + ": " + problem.message + more;
}

core::TimePoint CreatedAt(const config::OldEntry& entry, core::TimePoint now) {
  std::error_code problem;
  const auto written = std::filesystem::last_write_time(entry.config_file, problem);
  if (problem) return now;
  const auto at = std::chrono::file_clock::to_sys(written);
  return std::min(now, std::chrono::time_point_cast<core::TimePoint::duration>(at));
}

/// The job as it goes on here: over, until it is resumed.
ports::ImportedJob MakeJob(const config::OldEntry& entry, const core::JobSpec& spec, core::JobId id,
                           const std::string& origin, core::TimePoint now) {
  ports::ImportedJob made{.origin = origin};
  core::Job& job = made.job;
  job.id = id;
  job.name = spec.name;
  job.user = entry.user.empty() ? base::UserName() : entry.user;
  job.spec = spec;
  job.wish = core::Wish::kCancel;
  job.wish_new = false;
  job.state = core::Done{.outcome = core::Outcome::kCancelled};
  job.created_at = CreatedAt(entry, now);
  job.since = now;
  job.attempt = 1;
  job.attempt_end = core::AttemptEnd{.outcome = core::AttemptOutcome::kCancelled};
  job.why = "taken over from Python jobman";
  made.source = "# " + origin + "\n" + config::ResolvedYaml({.spec = spec}, false);
  made.attempts = {{.attempt = 1, .zone = spec.tpu.zone, .started_at = job.created_at}};
  return made;
}

base::Task<Result<bool>> IsOrigin(ports::JobStore* jobs, core::JobId id, std::string origin) {
  JM_CO_ASSIGN_OR_RETURN(const auto events, co_await jobs->Events(id, 0));
  co_return !events.empty() && events.front().text == origin;
}

/// The job that an earlier import made of the entry.
base::Task<Result<std::optional<core::JobId>>> FindEarlier(ports::JobStore* jobs,
                                                           config::OldEntry entry,
                                                           std::string origin) {
  std::vector<core::JobId> ids;
  if (entry.id != 0) {
    ids.push_back({entry.id});
  } else {
    JM_CO_ASSIGN_OR_RETURN(ids, co_await jobs->FindByName(entry.name));
  }
  for (const core::JobId id : ids) {
    JM_CO_ASSIGN_OR_RETURN(const bool same, co_await IsOrigin(jobs, id, origin));
    if (same) co_return id;
  }
  co_return std::nullopt;
}

/// Stores the job, unless its number is taken: then `row` says so. Another import of the same
/// folder may have stored it just now.
base::Task<base::Status> Store(Context context, ports::ImportedJob made, ImportedRow* row) {
  core::Job job = made.job;
  std::string origin = made.origin;
  const core::TimePoint now = context.Now();
  const auto stored = co_await context.stores.jobs->Import(std::move(made), now);
  if (!stored.ok() && stored.error().code == base::Code::kAlreadyExists) {
    ports::JobStore* const jobs = context.stores.jobs;
    JM_CO_ASSIGN_OR_RETURN(const bool same, co_await IsOrigin(jobs, job.id, std::move(origin)));
    row->fate = same ? ImportFate::kThere : ImportFate::kLeft;
    if (!same) row->why = "the store has another job " + core::FormatJobId(job.id);
    co_return base::Ok();
  }
  JM_CO_TRY(stored);
  const auto key = ssh::EnsureKey(job.spec.ssh.private_key);
  if (!key.ok() && row->why.empty()) row->why = key.error().message;
  co_return controller::TakeNewFolder(context.paths, job);
}

base::Task<Result<bool>> IsTaken(ports::JobStore* jobs, core::JobId id) {
  const auto job = co_await jobs->Get(id);
  if (job.ok()) co_return true;
  if (job.error().code == base::Code::kNotFound) co_return false;
  co_return true;  // by one that cannot be read
}

}  // namespace

std::string OriginOf(const config::OldFolder& old, const config::OldEntry& entry) {
  const std::string which =
      entry.id == 0 ? "worker " + entry.name : "job " + base::FormatJobNumber(entry.id);
  return fmt::format("imported from {}, {} of Python jobman", old.dir.string(), which);
}

base::Task<bool> NodeAsker::IsReady(core::JobSpec spec, std::string node) {
  const std::string cloud = spec.cloud.endpoint;
  if (node.empty() || closed_.contains(cloud)) co_return false;
  if (spec.tpu.project.empty()) {
    troubles_.insert(
        "no project is named, so the cloud was not asked for slices: "
        "--set tpu.project=ID");
    co_return false;
  }
  if (!clouds_.contains(cloud)) {
    auto opened = co_await context_.open_cloud(context_.paths, spec.cloud);
    if (!opened.ok()) {
      closed_.insert(cloud);
      troubles_.insert("the cloud was not asked for slices: " + opened.error().message);
      co_return false;
    }
    clouds_[cloud] = *std::move(opened);
  }
  const core::Place place{.project = spec.tpu.project, .zone = spec.tpu.zone};
  const auto seen = co_await clouds_[cloud].slices->GetNode(place, node);
  if (seen.ok()) {
    const bool same = seen->accelerator.empty() || seen->accelerator == spec.tpu.accelerator;
    co_return seen->state == core::NodeState::kReady&& same;
  }
  if (seen.error().code != base::Code::kNotFound) {
    closed_.insert(cloud);
    troubles_.insert("the cloud did not say which slices are READY: " + seen.error().message);
  }
  co_return false;
}

base::Task<Result<ImportedRow>> ImportEntry(Context context, ImportOrder order,
                                            config::OldFolder old, config::OldEntry entry,
                                            std::int64_t* next, NodeAsker* nodes) {
  ImportedRow row{.id = {entry.id}, .name = entry.name};
  const std::string origin = OriginOf(old, entry);
  JM_CO_ASSIGN_OR_RETURN(const auto earlier,
                         co_await FindEarlier(context.stores.jobs, entry, origin));
  if (earlier) {
    row.id = *earlier;
    row.fate = ImportFate::kThere;
    const auto job = co_await context.stores.jobs->Get(*earlier);
    if (job.ok()) row.name = job->name;
    JM_CO_ASSIGN_OR_RETURN(row.logs,
                           ImportLogs(context.paths, row.id, entry.logs, !order.dry_run, row.why));
    co_return row;
  }
  row.fate = ImportFate::kLeft;
  config::LoadResult read = LoadEntry(context, order, old, entry, "");
  if (!read.loaded) {
    row.why = WhyNot(entry, read);
    co_return row;
  }
  core::JobSpec spec = read.loaded->spec;
  row.name = spec.name;
  if (spec.queue && !spec.queue->config.empty()) row.queue = spec.queue->config;
  if (row.id.value == 0) row.id = {*next};
  JM_CO_ASSIGN_OR_RETURN(const bool taken, co_await IsTaken(context.stores.jobs, row.id));
  if (taken) {
    row.why = "the store has another job " + core::FormatJobId(row.id);
    co_return row;
  }
  const std::string node = entry.node.empty() ? spec.tpu.name : entry.node;
  if (co_await nodes->IsReady(spec, node)) {
    const auto with_slice = LoadEntry(context, order, old, entry, node);
    if (with_slice.loaded) {
      spec = with_slice.loaded->spec;
      row.slice = node;
    } else {
      row.why = "its slice " + node + " stays with itself: " + WhyNot(entry, with_slice);
    }
  }
  row.fate = ImportFate::kTaken;
  if (entry.id == 0) ++*next;
  if (!order.dry_run) {
    ports::ImportedJob made = MakeJob(entry, spec, row.id, origin, context.Now());
    JM_CO_TRY(co_await Store(context, std::move(made), &row));
  }
  const bool copy = !order.dry_run && row.fate == ImportFate::kTaken;
  JM_CO_ASSIGN_OR_RETURN(row.logs, ImportLogs(context.paths, row.id, entry.logs, copy, row.why));
  co_return row;
}

}  // namespace jobman::client
