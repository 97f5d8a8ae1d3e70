#include "store/rules.hpp"

#include <algorithm>

#include "jobman/base/state_paths.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/core/explain.hpp"
#include "jobman/core/job_json.hpp"

namespace jobman::store {
namespace {

using base::Code;
using base::Error;
using base::Reason;

constexpr std::string_view kDeleted = "DELETED";
constexpr std::string_view kStarting = "STARTING";

std::string JobText(core::JobId id) {
  return "job " + base::FormatJobNumber(id.value);
}

std::string Host0(const core::Job& job) {
  if (!job.slice || job.slice->hosts.empty()) return {};
  return core::ChosenAddress(job.slice->hosts.front(), job.spec);
}

Error Changed(const core::Job& job, const std::string& what) {
  return {.code = Code::kAborted,
          .message = JobText(job.id) + " is not erased: " + what,
          .reason = Reason::kStale,
          .hint = "`jobman why " + std::to_string(job.id.value) + "` shows what it does now"};
}

bool StateMatches(const std::vector<std::string>& words, const ports::JobSummary& row) {
  return std::any_of(words.begin(), words.end(), [&row](const std::string& word) {
    return word == row.state || word == row.familiar || word == row.status;
  });
}

bool HasWord(const std::vector<std::string>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool HasLabels(const std::map<std::string, std::string>& wanted,
               const std::map<std::string, std::string>& labels) {
  return std::all_of(wanted.begin(), wanted.end(), [&labels](const auto& label) {
    const auto found = labels.find(label.first);
    return found != labels.end() && found->second == label.second;
  });
}

/// What `list` shows of the pause of a job in BACKOFF.
std::optional<core::BackingOff> PauseOf(const core::JobState& state) {
  const auto* const pause = std::get_if<core::BackingOff>(&state);
  if (pause == nullptr) return std::nullopt;
  return core::BackingOff{.until = pause->until,
                          .error = {.message = pause->error.message, .reason = pause->error.reason},
                          .for_maintenance = pause->for_maintenance};
}

}  // namespace

core::Job PrepareNew(core::Job job, core::TimePoint now) {
  job.created_at = now;
  job.since = now;
  job.wake_at = now;
  job.version = 1;
  return job;
}

ports::Event CreatedEvent(const core::Job& job, core::TimePoint now) {
  return {.at = now,
          .job = job.id,
          .attempt = job.attempt,
          .kind = "state",
          .subject = std::string(core::StateName(job.state)),
          .text = job.user.empty() ? "created" : "created by " + job.user};
}

Status MayImport(const core::Job& job) {
  if (job.id.value < 1) return base::InvalidArgument("a job's number is 1 or more");
  if (core::IsFinal(job.state)) return base::Ok();
  return base::InvalidArgument(
      "job " + core::FormatJobId(job.id) + " is not over, so it cannot be imported",
      "stop it with the tool that runs it");
}

core::Job PrepareImported(core::Job job) {
  job.wish_new = false;
  job.wake_at.reset();
  job.version = 1;
  return job;
}

ports::Event ImportedEvent(const ports::ImportedJob& imported, core::TimePoint now) {
  const core::Job& job = imported.job;
  return {.at = now,
          .job = job.id,
          .attempt = job.attempt,
          .kind = "note",
          .subject = "import",
          .text = imported.origin};
}

base::Error IdTaken(core::JobId id) {
  return {.code = base::Code::kAlreadyExists,
          .message = "the store has a job " + core::FormatJobId(id) + " already",
          .hint = "import into an empty store: --home DIR"};
}

void ApplyWish(core::Job& job, core::Wish wish, core::SetupWish setup, core::TimePoint now) {
  job.wish = wish;
  job.wish_new = true;
  job.wake_at = now;
  core::ApplySetupWish(job, setup);
  job.version += 1;
}

ports::Event WishEvent(const core::Job& job, core::SetupWish setup, core::TimePoint now) {
  const std::string name(core::WishName(job.wish));
  std::string how;
  if (setup == core::SetupWish::kRedo) how = ", with setup from the start";
  if (setup == core::SetupWish::kSkip) how = ", without setup";
  return {.at = now,
          .job = job.id,
          .attempt = job.attempt,
          .kind = "wish",
          .subject = name,
          .text = name + " was requested" + how};
}

void ApplyRevision(core::Job& job, core::JobSpec spec, core::TimePoint now) {
  job.revised = std::move(spec);
  if (!core::IsFinal(job.state)) job.wake_at = now;
  job.version += 1;
}

ports::Event RevisionEvent(const core::Job& job, core::TimePoint now) {
  const std::string before = core::ElementText(job.spec);
  const std::string after = job.revised ? core::ElementText(*job.revised) : before;
  const std::string values = before == after ? "" : " (" + after + " instead of " + before + ")";
  return {.at = now,
          .job = job.id,
          .attempt = job.attempt,
          .kind = "wish",
          .subject = "revise",
          .text = "the job file was changed" + values + "; the next attempt uses it"};
}

Status MayErase(const core::Job& job, std::int64_t version) {
  if (job.version != version) return Changed(job, "it was changed meanwhile");
  const bool holds = job.slice.has_value();
  const bool rests = core::IsFinal(job.state) && !holds && job.abandoned.empty();
  if (rests && job.wish_new) {
    return Changed(job, std::string(core::WishName(job.wish)) + " was requested meanwhile");
  }
  if (rests) return base::Ok();
  if (core::IsFinal(job.state) && !holds) {
    return Error{.code = Code::kUnavailable,
                 .message = JobText(job.id) + " cannot be erased yet: slice " +
                            job.abandoned.back().ref.name +
                            " was requested but never seen, and may be created until " +
                            base::FormatRfc3339(job.abandoned.back().until),
                 .hint = "try again after that time"};
  }
  const std::string cause =
      holds ? "it holds the slice " + job.slice->ref.name
            : "it is not over (" + std::string(core::StateName(job.state)) + ")";
  return Error{.code = Code::kFailedPrecondition,
               .message = JobText(job.id) + " cannot be erased: " + cause,
               .hint = "`jobman delete " + std::to_string(job.id.value) + "` first"};
}

std::string StateOfStatus(const std::string& status) {
  return status == kStarting ? std::string(core::StateName(core::Running{})) : status;
}

ports::JobSummary Summarise(const core::Job& job) {
  return {.id = job.id,
          .name = job.name,
          .user = job.user,
          .accelerator = core::AcceleratorText(job.spec.tpu),
          .zone = job.slice ? job.slice->ref.place.zone : job.spec.tpu.zone,
          .host0 = Host0(job),
          .state = std::string(core::StateName(job.state)),
          .status = std::string(core::StatusWord(job)),
          .familiar = std::string(core::FamiliarStatus(job)),
          .attempt = job.attempt,
          .since = job.since,
          .why = job.why,
          .search = job.search,
          .pause = PauseOf(job.state),
          .labels = job.spec.labels};
}

bool Matches(const ports::JobFilter& filter, const ports::JobSummary& row) {
  const bool by_word = StateMatches(filter.states, row);
  if (!filter.states.empty() && !by_word) return false;
  const bool deleted_named = HasWord(filter.states, kDeleted);
  if (row.state == kDeleted && !filter.with_deleted && !deleted_named) return false;
  if (!filter.name_glob.empty() && !base::GlobMatch(filter.name_glob, row.name)) return false;
  if (!filter.zones.empty() && !HasWord(filter.zones, row.zone)) return false;
  if (!filter.user.empty() && filter.user != row.user) return false;
  return HasLabels(filter.labels, row.labels);
}

std::optional<ports::Lease> NextLease(const ports::Lease& present, const std::string& holder,
                                      core::TimePoint now, core::Duration time_to_live) {
  const bool free =
      present.holder.empty() || present.expires <= now || ports::IsTooFarAhead(present, now);
  const bool mine = present.holder == holder;
  if (!free && !mine) return std::nullopt;
  return ports::Lease{.holder = holder,
                      .token = mine ? present.token : present.token + 1,
                      .expires = now + time_to_live};
}

Error NoSuchJob(core::JobId id) {
  return base::NotFound("there is no " + JobText(id), "`jobman list` shows all jobs");
}

Error Stale(core::JobId id) {
  return {.code = Code::kAborted,
          .message = JobText(id) + " has changed since it was read",
          .reason = Reason::kStale,
          .hint = "read it again"};
}

Error GuestIsStale() {
  return {.code = Code::kAborted,
          .message = "another command has changed the guest meanwhile",
          .reason = Reason::kStale,
          .hint = "jobman keys list shows how it is; try again"};
}

Error LeaseLost() {
  return {.code = Code::kAborted,
          .message = "another controller has taken over",
          .reason = Reason::kLeaseLost,
          .hint = "`jobman controller status` shows which"};
}

}  // namespace jobman::store
