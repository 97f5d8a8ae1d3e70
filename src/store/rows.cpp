#include "store/rows.hpp"

#include <utility>

#include "jobman/base/json.hpp"
#include "jobman/base/state_paths.hpp"
#include "jobman/base/time.hpp"
#include "jobman/core/job_json.hpp"
#include "jobman/core/spec_json.hpp"
#include "store/documents.hpp"
#include "store/rules.hpp"

namespace jobman::store {
namespace {

using base::Json;

/// In the order of BindJob(). `state` is what `list` shows, core::StatusWord().
constexpr const char* kColumns =
    "name, user, accelerator, zone, host0, state, familiar, attempt, since, why, labels_json, "
    "search_since, search_tries, pause_until, pause_message, pause_reason, "
    "pause_for_maintenance, "
    "active, wish, wish_new, wake_at, version, created_at, setup_epoch, attempt_json, "
    "state_json, slice_json, stage_json, spent_json, abandoned_json";
constexpr const char* kPlaces = "?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?";

template <class T, class ToJson>
std::optional<std::string> MaybeText(const std::optional<T>& value, ToJson to_json) {
  if (!value) return std::nullopt;
  return JsonText(to_json(*value));
}

std::string LabelsText(const std::map<std::string, std::string>& labels) {
  return labels.empty() ? std::string() : JsonText(Json(labels));
}

Result<std::map<std::string, std::string>> ReadLabels(std::string_view text) {
  std::map<std::string, std::string> labels;
  if (text.empty()) return labels;
  JM_ASSIGN_OR_RETURN(const Json json, ParseColumn(text));
  if (!json.is_object()) return labels;
  for (const auto& [key, value] : json.items()) {
    const auto* label = value.get_ptr<const std::string*>();
    if (label != nullptr) labels.emplace(key, *label);
  }
  return labels;
}

/// The parts of a job that are kept as JSON.
struct Documents {
  std::string attempt = {};
  std::string state = {};
  std::optional<std::string> slice = {};
  std::optional<std::string> stage = {};
  std::string spent = {};
  std::optional<std::string> abandoned = {};
  std::string spec = {};
};

Status ReadDocuments(const Documents& documents, core::Job& job) {
  JM_ASSIGN_OR_RETURN(const Json attempt, ParseColumn(documents.attempt));
  JM_TRY(core::ReadAttempt(attempt, job));
  JM_ASSIGN_OR_RETURN(const Json state, ParseColumn(documents.state));
  JM_ASSIGN_OR_RETURN(job.state, core::StateFromJson(state));
  if (documents.slice) {
    JM_ASSIGN_OR_RETURN(const Json slice, ParseColumn(*documents.slice));
    JM_ASSIGN_OR_RETURN(job.slice, core::SliceFromJson(slice));
  }
  if (documents.stage) {
    JM_ASSIGN_OR_RETURN(const Json stage, ParseColumn(*documents.stage));
    JM_ASSIGN_OR_RETURN(job.stage, core::StageFromJson(stage));
  }
  JM_ASSIGN_OR_RETURN(const Json spent, ParseColumn(documents.spent));
  JM_ASSIGN_OR_RETURN(job.spent, core::SpentFromJson(spent));
  if (documents.abandoned) {
    JM_ASSIGN_OR_RETURN(const Json abandoned, ParseColumn(*documents.abandoned));
    JM_ASSIGN_OR_RETURN(job.abandoned, core::AbandonedFromJson(abandoned));
  }
  JM_ASSIGN_OR_RETURN(const Json spec, ParseColumn(documents.spec));
  JM_ASSIGN_OR_RETURN(job.spec, core::SpecFromJson(spec));
  return base::Ok();
}

Result<core::Wish> ReadWish(const std::string& word) {
  if (const auto wish = core::WishFromName(word)) return *wish;
  return WrittenByNewer("unknown wish \"" + word + "\"");
}

// What a row says of its job's wait, in the order of kColumns.
void BindWait(Query& query, const ports::JobSummary& row) {
  const auto search = row.search.value_or(core::Search{});
  query.Bind(row.search ? std::optional(search.since) : std::nullopt).Bind(search.tries);
  const auto pause = row.pause.value_or(core::BackingOff{});
  query.Bind(row.pause ? std::optional(pause.until) : std::nullopt).Bind(pause.error.message);
  query.Bind(base::ReasonName(pause.error.reason)).Bind(pause.for_maintenance);
}

std::optional<core::Search> ReadSearch(Query& query) {
  const auto since = query.MaybeTime();
  const int tries = query.SmallInt();
  return since ? std::optional(core::Search{.since = *since, .tries = tries}) : std::nullopt;
}

std::optional<core::BackingOff> ReadPause(Query& query) {
  const auto until = query.MaybeTime();
  const std::string_view message = query.View();
  const std::string_view reason = query.View();
  const bool for_maintenance = query.Bool();
  if (!until) return std::nullopt;
  return core::BackingOff{
      .until = *until,
      .error = {.message = std::string(message), .reason = base::ReasonFromName(reason)},
      .for_maintenance = for_maintenance};
}

}  // namespace

std::string SpecText(const core::JobSpec& spec) {
  return JsonText(core::SpecToJson(spec));
}

const char* InsertJobSql() {
  static const std::string kSql =
      std::string("INSERT INTO jobs (") + kColumns + ") VALUES (" + kPlaces + ")";
  return kSql.c_str();
}

const char* InsertJobWithIdSql() {
  static const std::string kSql =
      std::string("INSERT INTO jobs (id, ") + kColumns + ") VALUES (?, " + kPlaces + ")";
  return kSql.c_str();
}

const char* UpdateJobSql() {
  // A reason to set the record aside no longer holds after a change.
  static const std::string kSql = std::string("UPDATE jobs SET set_aside = NULL, (") + kColumns +
                                  ") = (" + kPlaces + ") WHERE id = ? AND version = ?";
  return kSql.c_str();
}

void BindJob(Query& query, const core::Job& job) {
  const ports::JobSummary row = Summarise(job);
  query.Bind(row.name).Bind(row.user).Bind(row.accelerator).Bind(row.zone).Bind(row.host0);
  query.Bind(row.status).Bind(row.familiar).Bind(row.attempt).Bind(row.since).Bind(row.why);
  query.Bind(LabelsText(row.labels));
  BindWait(query, row);
  query.Bind(core::NeedsCare(job));
  query.Bind(core::WishName(job.wish)).Bind(job.wish_new).Bind(job.wake_at).Bind(job.version);
  query.Bind(job.created_at).Bind(job.setup_epoch).Bind(JsonText(core::AttemptToJson(job)));
  query.Bind(JsonText(core::StateToJson(job.state)));
  query.Bind(MaybeText(job.slice, core::SliceToJson));
  query.Bind(MaybeText(job.stage, core::StageToJson));
  query.Bind(JsonText(core::SpentToJson(job.spent)));
  const bool none = job.abandoned.empty();
  query.Bind(none ? std::nullopt : std::optional(JsonText(core::AbandonedToJson(job.abandoned))));
}

const std::string& SelectJobSql() {
  static const std::string kSql =
      "SELECT id, name, user, wish, wish_new, created_at, since, attempt, setup_epoch, "
      "why, wake_at, version, attempt_json, state_json, slice_json, stage_json, spent_json, "
      "abandoned_json, spec_json FROM jobs JOIN job_files ON job = id ";
  return kSql;
}

Result<core::Job> ReadJob(Query& query) {
  core::Job job{.id = {query.Int()}, .name = query.Text(), .user = query.Text()};
  auto wish = ReadWish(query.Text());
  job.wish_new = query.Bool();
  job.created_at = query.Time();
  job.since = query.Time();
  job.attempt = query.SmallInt();
  job.setup_epoch = query.SmallInt();
  job.why = query.Text();
  job.wake_at = query.MaybeTime();
  job.version = query.Int();
  const Documents documents{.attempt = query.Text(),
                            .state = query.Text(),
                            .slice = query.MaybeText(),
                            .stage = query.MaybeText(),
                            .spent = query.Text(),
                            .abandoned = query.MaybeText(),
                            .spec = query.Text()};
  const Status read = wish.ok() ? ReadDocuments(documents, job) : Status(wish.error());
  if (!read.ok())
    return Unreadable(read.error(), "reading job " + base::FormatJobNumber(job.id.value));
  job.wish = *wish;
  return job;
}

const char* SelectSummariesSql() {
  // A record that is set aside says why, and nothing of a wait. An older jobman that still has the
  // store open leaves the columns of a pause as they were.
  return "SELECT id, name, user, accelerator, zone, host0, state, familiar, attempt, since, "
         "coalesce(set_aside, why), search_since, search_tries, "
         "CASE WHEN state = 'BACKOFF' AND set_aside IS NULL THEN pause_until END, "
         "pause_message, pause_reason, "
         "pause_for_maintenance, labels_json FROM jobs ORDER BY id";
}

Status ReadSummary(Query& query, bool with_labels, ports::JobSummary& row) {
  row.id = {query.Int()};
  row.name = query.View();
  row.user = query.View();
  row.accelerator = query.View();
  row.zone = query.View();
  row.host0 = query.View();
  row.status = query.View();
  row.state = StateOfStatus(row.status);
  row.familiar = query.View();
  row.attempt = query.SmallInt();
  row.since = query.Time();
  row.why = query.View();
  row.search = ReadSearch(query);
  row.pause = ReadPause(query);
  if (!with_labels) return base::Ok();
  JM_ASSIGN_OR_RETURN(row.labels, ReadLabels(query.View()));
  return base::Ok();
}

}  // namespace jobman::store
