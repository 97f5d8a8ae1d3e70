#include "core/json_fields.hpp"

#include "jobman/core/job_json.hpp"

namespace jobman::core {

using base::Error;
using base::GetBool;
using base::GetInt;
using base::GetMember;
using base::GetString;
using base::Json;
using base::Result;

Error UnknownWord(std::string_view what, const std::string& word) {
  return {
      .code = base::Code::kFailedPrecondition,
      .message = "written by a newer jobman: unknown " + std::string(what) + " \"" + word + "\"",
      .reason = base::Reason::kNewerStore,
      .hint = "use the newest jobman that has worked on this store"};
}

int GetSmallInt(const Json& object, std::string_view key) {
  return static_cast<int>(GetInt(object, key));
}

void PutText(Json& object, const char* key, std::string_view text) {
  if (!text.empty()) object[key] = text;
}

void PutTime(Json& object, const char* key, TimePoint time) {
  if (time != TimePoint{}) object[key] = base::FormatRfc3339(time);
}

Result<TimePoint> ReadTime(const Json& object, std::string_view key) {
  const std::string text = GetString(object, key);
  if (text.empty()) return TimePoint{};
  return base::ParseRfc3339(text);
}

Result<std::optional<TimePoint>> ReadMaybeTime(const Json& object, std::string_view key) {
  JM_ASSIGN_OR_RETURN(const TimePoint time, ReadTime(object, key));
  return time == TimePoint{} ? std::optional<TimePoint>{} : std::optional(time);
}

std::optional<Error> ReadError(const Json& object) {
  const Json& error = GetMember(object, "error");
  if (!error.is_object()) return std::nullopt;
  return ErrorFromJson(error);
}

void PutNotice(Json& object, const std::optional<Notice>& notice) {
  if (!notice) return;
  object["notice"] = {{"kind", NoticeKindName(notice->kind)},
                      {"imminent", notice->imminent},
                      {"text", notice->text}};
}

Result<std::optional<Notice>> ReadNotice(const Json& object) {
  const Json& json = GetMember(object, "notice");
  if (!json.is_object()) return std::optional<Notice>{};
  const std::string word = GetString(json, "kind");
  const auto kind = NoticeKindFromName(word);
  if (!kind) return UnknownWord("kind of notice", word);
  return std::optional(Notice{
      .kind = *kind, .imminent = GetBool(json, "imminent"), .text = GetString(json, "text")});
}

}  // namespace jobman::core
