#include "jobman/client/create_jobs.hpp"

#include <algorithm>
#include <asio/experimental/awaitable_operators.hpp>
#include <chrono>
#include <set>
#include <tuple>
#include <utility>

#include "client/job_login.hpp"
#include "client/kept_project.hpp"
#include "client/node_users.hpp"
#include "jobman/base/env.hpp"
#include "jobman/client/background_controller.hpp"
#include "jobman/client/bucket_check.hpp"
#include "jobman/client/compute_check.hpp"
#include "jobman/client/local_cloud.hpp"
#include "jobman/client/offer_check.hpp"
#include "jobman/client/quota_check.hpp"
#include "jobman/client/reservation_check.hpp"
#include "jobman/client/set_wishes.hpp"
#include "jobman/client/times.hpp"
#include "jobman/controller/job_folder.hpp"
#include "jobman/core/late_names.hpp"
#include "jobman/ssh/keys.hpp"

namespace jobman::client {

namespace {

using JobNames = std::set<std::string>;

constexpr const char* kNotAsked =
    "the cloud takes too long to answer: it was not asked about the jobs that came after";

base::Task<base::Result<JobNames>> NamesOfJobs(ports::JobStore* jobs) {
  const ports::JobFilter all{.with_deleted = true};
  JM_CO_ASSIGN_OR_RETURN(const auto known, co_await jobs->List(all));
  JobNames names;
  for (const ports::JobSummary& job : known) names.insert(job.name);
  co_return names;
}

/// job.worker_num: auto. The smallest positive number that no stored job of this name has becomes
/// the suffix of its names.
core::JobSpec WithNumber(const JobNames& names, core::JobSpec spec) {
  if (spec.worker_num.empty()) return spec;
  int number = 1;
  while (names.contains(spec.name + "_" + std::to_string(number))) ++number;
  spec.name += "_" + std::to_string(number);
  if (!spec.tpu.name.empty()) spec.tpu.name += "-" + std::to_string(number);
  spec.worker_num.clear();
  core::BindNumber(spec, std::to_string(number));
  return spec;
}

base::Task<base::Result<core::JobSpec>> WithFreeNumber(ports::JobStore* jobs, core::JobSpec spec) {
  if (spec.worker_num.empty()) co_return spec;
  JM_CO_ASSIGN_OR_RETURN(const JobNames names, co_await NamesOfJobs(jobs));
  co_return WithNumber(names, std::move(spec));
}

/// Simulated hosts without a sandbox let only their own user log in. Returns the user that they do
/// not have; empty if they have the job's.
std::string UseLocalLogin(const Context& context, core::JobSpec& spec) {
  if (spec.cloud.endpoint != kLocal) return {};
  const auto local = FindLocalCloud(context.paths);
  if (!local || local->user.empty() || spec.ssh.user == local->user) return {};
  return std::exchange(spec.ssh.user, local->user);
}

/// Commands take a name for the newest job that has it.
base::Task<base::Result<std::string>> NoteOnName(ports::JobStore* jobs, std::string name) {
  JM_CO_ASSIGN_OR_RETURN(std::vector<core::JobId> named, co_await jobs->FindByName(name));
  std::sort(named.rbegin(), named.rend());
  for (const core::JobId id : named) {
    const auto job = co_await jobs->Get(id);
    if (!job.ok()) continue;
    const auto* done = std::get_if<core::Done>(&job->state);
    if (done != nullptr && done->outcome == core::Outcome::kDeleted) continue;
    co_return "job " + core::FormatJobId(id) + ", which is " +
        std::string(core::StateName(job->state)) + ", is named " + name +
        " too; in commands the name will mean the new job";
  }
  co_return std::string();
}

void AddNote(std::string note, std::vector<std::string>& notes) {
  if (!note.empty()) notes.push_back(std::move(note));
}

/// The job's folder here, with its code.
base::Status MakeFolder(const Context& context, const core::Job& job,
                        const std::optional<TakenCode>& code) {
  const auto taken = controller::TakeNewFolder(context.paths, job);
  if (!taken.ok()) return taken.error();
  return code ? KeepCode(*code, context.paths, job.id.value) : base::Ok();
}

/// The code was taken for an earlier file, as for the elements of an array: all get the same.
bool AsksForTheCodeOf(const CheckedFile& earlier, const core::CodeSpec& code) {
  core::CodeSpec asked = earlier.loaded.spec.code;
  asked.snapshot = {};
  return earlier.code && asked == code;
}

/// "job 000001 is", "jobs 000001 to 000003 are": ids of one call follow each other.
std::string ThatAre(const std::vector<core::JobId>& ids) {
  const std::string first = core::FormatJobId(ids.front());
  if (ids.size() == 1) return "job " + first + " is";
  return "jobs " + first + " to " + core::FormatJobId(ids.back()) + " are";
}

/// Jobs that were stored before one could not be, if any: all of a call are created, or none runs.
/// Returns `why`, and what became of them.
base::Task<base::Error> Cancel(Context context, std::vector<core::JobId> ids, base::Error why) {
  if (ids.empty()) co_return why;
  bool cancelled = true;
  for (const core::JobId id : ids) {
    const auto wished = co_await context.stores.jobs->SetWish(
        id, core::Wish::kCancel, core::SetupWish::kAsNeeded, context.Now());
    cancelled = cancelled && wished.ok();
  }
  const std::string became = cancelled ? " cancelled: " : " stored and could not be cancelled: ";
  why.message = ThatAre(ids) + became + why.message;
  co_return why;
}

/// What the cloud says of a job file.
struct Said {
  base::Result<std::string> offer = std::string();  ///< why it could not be asked, if so
  base::Result<ReservationVerdict> reservation = ReservationVerdict();
  base::Result<QuotaVerdict> quota = QuotaVerdict();
  base::Result<std::vector<std::string>> buckets = std::vector<std::string>();
  base::Result<ComputeVerdict> project = ComputeVerdict();
};

base::Task<base::Result<ComputeVerdict>> AskNoProject() {
  co_return ComputeVerdict();
}

base::Task<base::Result<ReservationVerdict>> AskNoReservation() {
  co_return ReservationVerdict();
}

base::Task<base::Result<QuotaVerdict>> AskNoQuota() {
  co_return QuotaVerdict();
}

/// All at once: each of them has a limit of its own. `earlier`, if any, must outlive the coroutine.
base::Task<Said> AskAll(Context context, config::Loaded loaded, const CheckedFile* earlier,
                        Preflight preflight) {
  using namespace asio::experimental::awaitable_operators;
  const bool held = preflight == Preflight::kHeldSlice;
  // What was said of the same reservation or quota is not said for each element of an array.
  const bool same = earlier != nullptr && AsksForSameReservation(earlier->loaded.spec, loaded.spec);
  const bool again = earlier != nullptr && AsksForSameQuota(earlier->loaded.spec, loaded.spec);
  auto offer = CheckOffer(context, loaded);
  auto buckets = CheckBuckets(context, loaded);
  auto project = held ? AskNoProject() : CheckCompute(context, loaded);
  auto reservation = held || same ? AskNoReservation() : CheckReservation(context, loaded);
  auto quota = held || again ? AskNoQuota() : CheckTpuQuota(context, loaded);
  auto all = co_await (std::move(offer) && std::move(buckets) && std::move(project) &&
                       std::move(reservation) && std::move(quota));
  co_await base::EndIfCancelled();
  Said said{.offer = std::move(std::get<0>(all)), .reservation = std::move(std::get<3>(all))};
  said.buckets = std::move(std::get<1>(all));
  said.project = std::move(std::get<2>(all));
  said.quota = std::move(std::get<4>(all));
  co_return said;
}

/// Whether asking for an earlier file of the call took too long.
bool IsSlow(const CheckedFile* earlier, const core::CloudSpec& cloud) {
  return earlier != nullptr && earlier->cloud_is_slow && earlier->loaded.spec.cloud == cloud;
}

/// For a file that is not asked about: the hosts of a project with OS Login would let nobody in, so
/// what an earlier answer said of that counts. The pointer must outlive the coroutine.
base::Task<base::Status> UseWhatIsKnown(Context context, CheckedFile* checked,
                                        Preflight preflight) {
  checked->cloud_is_slow = true;
  checked->notes.emplace_back(kNotAsked);
  if (preflight == Preflight::kHeldSlice) co_return base::Ok();
  JM_CO_TRY(CheckOsLoginWish(checked->loaded));
  const ComputeVerdict known = co_await PreviewCompute(std::move(context), checked->loaded);
  if (!known.turn_os_login_off) co_return base::Ok();
  checked->loaded.spec.tpu.metadata[kEnableOsLogin] = "FALSE";
  checked->notes.insert(checked->notes.end(), known.notes.begin(), known.notes.end());
  co_return base::Ok();
}

/// What the cloud has to be asked, and what is known without. The first refusal counts, in this
/// order. The pointers must outlive the coroutine.
base::Task<base::Status> AskCloud(Context context, CheckedFile* checked, const CheckedFile* earlier,
                                  Preflight preflight) {
  if (preflight == Preflight::kNone) co_return base::Ok();
  if (IsSlow(earlier, checked->loaded.spec.cloud)) {
    co_return co_await UseWhatIsKnown(std::move(context), checked, preflight);
  }
  const auto begin = std::chrono::steady_clock::now();
  const Said said = co_await AskAll(std::move(context), checked->loaded, earlier, preflight);
  checked->cloud_is_slow = std::chrono::steady_clock::now() - begin >= kSlowCloud;
  JM_CO_ASSIGN_OR_RETURN(const std::string unasked, said.offer);
  std::vector<std::string>& notes = checked->notes;
  core::TpuSpec& tpu = checked->loaded.spec.tpu;
  if (!unasked.empty())
    notes.push_back("what zone " + tpu.zone + " offers could not be checked: " + unasked);
  JM_CO_ASSIGN_OR_RETURN(const ReservationVerdict reserved, said.reservation);
  // That nobody answers is said once.
  if (unasked.empty() || reserved.asked) AddNote(reserved.note, notes);
  JM_CO_ASSIGN_OR_RETURN(const QuotaVerdict quota, said.quota);
  if (unasked.empty() || quota.answered) AddNote(quota.note, notes);
  JM_CO_ASSIGN_OR_RETURN(const auto unseen, said.buckets);
  notes.insert(notes.end(), unseen.begin(), unseen.end());
  if (preflight == Preflight::kHeldSlice) co_return base::Ok();
  JM_CO_TRY(CheckOsLoginWish(checked->loaded));
  JM_CO_ASSIGN_OR_RETURN(const ComputeVerdict verdict, said.project);
  if (verdict.turn_os_login_off) tpu.metadata[kEnableOsLogin] = "FALSE";
  // That nobody answers is said once.
  if (!unasked.empty() && !verdict.answered) co_return base::Ok();
  notes.insert(notes.end(), verdict.notes.begin(), verdict.notes.end());
  co_return base::Ok();
}

/// What AskCloud() would add, as far as it is known. The pointers must outlive the coroutine.
base::Task<void> AddPreview(Context context, config::Loaded* file,
                            std::vector<std::string>* notes) {
  const ComputeVerdict verdict = co_await PreviewCompute(std::move(context), *file);
  if (verdict.turn_os_login_off) file->spec.tpu.metadata[kEnableOsLogin] = "FALSE";
  for (const std::string& note : verdict.notes) {
    if (std::find(notes->begin(), notes->end(), note) == notes->end()) notes->push_back(note);
  }
}

/// Stores the job with its folder; its number is in `ids` from the moment it is stored.
base::Task<base::Result<core::Job>> CreateJob(Context context, CheckedFile checked,
                                              std::vector<core::JobId>* ids) {
  config::Loaded& file = checked.loaded;
  JM_CO_ASSIGN_OR_RETURN(core::JobSpec spec,
                         co_await WithFreeNumber(context.stores.jobs, std::move(file.spec)));
  // The folder is known by the time of creation, too.
  const base::TimePoint now = context.Now();
  core::Job job = NewJob(std::move(spec), now);
  JM_CO_ASSIGN_OR_RETURN(job.id, co_await context.stores.jobs->Create(job, file.source, now));
  ids->push_back(job.id);
  JM_CO_TRY(MakeFolder(context, job, checked.code));
  co_return job;
}

}  // namespace

core::Job NewJob(core::JobSpec spec, base::TimePoint now) {
  core::Job job;
  job.name = spec.name;
  job.user = base::UserName();
  job.spec = std::move(spec);
  job.created_at = now;
  job.since = now;
  job.wake_at = now;
  job.why = "created";
  return job;
}

base::Task<base::Result<CheckedFile>> CheckFile(Context context, config::Loaded loaded,
                                                const CheckedFile* earlier, Preflight preflight,
                                                const core::JobSpec* present) {
  CheckedFile checked{.loaded = std::move(loaded)};
  core::JobSpec& spec = checked.loaded.spec;
  JM_CO_TRY(ssh::EnsureKey(spec.ssh.private_key));
  JM_CO_TRY(ssh::CheckUsable(spec.ssh.private_key, ssh::EnvironmentPassphrase()));
  JM_CO_TRY(co_await AskCloud(context, &checked, earlier, preflight));
  const LoginSources sources{.earlier = earlier,
                             .present = present,
                             .may_follow = preflight != Preflight::kNone,
                             .may_ask = !IsSlow(earlier, spec.cloud)};
  JM_CO_TRY(co_await SettleLogin(context, &checked, sources));
  if (spec.ssh.agent_forwarding && !base::GetEnv("SSH_AUTH_SOCK")) {
    checked.notes.push_back(
        "ssh.agent_forwarding: no SSH agent is known here (SSH_AUTH_SOCK is not set), so the hosts "
        "may get none");
  }
  if (!spec.code.empty() && spec.code.snapshot.empty()) {
    if (earlier != nullptr && AsksForTheCodeOf(*earlier, spec.code)) checked.code = earlier->code;
    if (!checked.code) {
      JM_CO_ASSIGN_OR_RETURN(checked.code, co_await TakeCode(spec.code, context.paths.home));
    }
    spec.code.snapshot = checked.code->snapshot;
    const auto& notes = checked.code->notes;
    checked.notes.insert(checked.notes.end(), notes.begin(), notes.end());
  }
  const std::string user = UseLocalLogin(context, spec);
  if (!user.empty()) {
    checked.notes.push_back("the simulated hosts run without a sandbox here and have no user " +
                            user + "; logging in as " + spec.ssh.user);
  }
  co_return checked;
}

base::Task<base::Result<PreviewedJobs>> PreviewJobs(Context context,
                                                    std::vector<config::Loaded> files,
                                                    Preflight preflight) {
  const ports::JobFilter all{.with_deleted = true};
  JM_CO_ASSIGN_OR_RETURN(const auto known, co_await context.stores.jobs->List(all));
  JM_CO_ASSIGN_OR_RETURN(JobNames names, co_await NamesOfJobs(context.stores.jobs));
  PreviewedJobs preview;
  JM_CO_ASSIGN_OR_RETURN(preview.store_id, co_await context.stores.jobs->StoreId());
  core::JobId last;
  for (const ports::JobSummary& job : known) last = std::max(last, job.id);
  for (config::Loaded& file : files) {
    if (preflight == Preflight::kAll) co_await AddPreview(context, &file, &preview.notes);
    core::JobSpec spec = WithNumber(names, std::move(file.spec));
    UseLocalLogin(context, spec);
    names.insert(spec.name);
    core::Job job = NewJob(std::move(spec), context.Now());
    job.id = last = {last.value + 1};
    preview.jobs.push_back(std::move(job));
  }
  co_return preview;
}

base::Task<base::Result<CheckedFile>> CheckBeforeCreate(Context context, config::Loaded loaded,
                                                        const CheckedFile* earlier,
                                                        Preflight preflight) {
  JM_CO_ASSIGN_OR_RETURN(CheckedFile checked,
                         co_await CheckFile(context, std::move(loaded), earlier, preflight));
  const core::JobSpec& spec = checked.loaded.spec;
  if (earlier != nullptr) AddNote(NoteOnNode(earlier->loaded.spec, spec), checked.notes);
  JM_CO_ASSIGN_OR_RETURN(std::string users, co_await NoteOnNode(context.stores.jobs, spec));
  AddNote(std::move(users), checked.notes);
  if (!spec.worker_num.empty()) co_return checked;
  JM_CO_ASSIGN_OR_RETURN(std::string same, co_await NoteOnName(context.stores.jobs, spec.name));
  AddNote(std::move(same), checked.notes);
  co_return checked;
}

base::Task<base::Result<std::vector<core::Job>>> CreateJobs(Context context,
                                                            std::vector<CheckedFile> files) {
  controller::Nudge nudge;
  std::vector<core::JobId> ids;
  std::vector<core::Job> jobs;
  for (CheckedFile& checked : files) {
    auto job = co_await CreateJob(context, std::move(checked), &ids);
    if (!job.ok()) {
      co_return co_await Cancel(context, std::move(ids), job.error());
    }
    auto secrets = SecretValues(job->spec);
    if (!secrets.empty()) nudge.secrets[job->id.value] = std::move(secrets);
    jobs.push_back(*std::move(job));
  }
  JM_CO_TRY(co_await WakeController(context, std::move(nudge)));
  co_return jobs;
}

}  // namespace jobman::client
