#include "config/build.hpp"
#include "config/scalars.hpp"
#include "jobman/base/regex.hpp"
#include "jobman/base/strings.hpp"

namespace jobman::config {
namespace {

/// Complains of members that are none of the two that such a map has.
void CheckMembers(Reader& reader, const std::string& path, const std::string& what) {
  for (const Value& member : reader.Get(path)->children) {
    if (member.key == what || member.key == "do") continue;
    reader.ComplainOfKey(path, member.key,
                         base::InvalidArgument("unknown key \"" + member.key + "\"",
                                               "its keys are " + what + " and do"));
  }
}

core::WatchdogAction BuildAction(Reader& reader, const std::string& path,
                                 core::WatchdogAction otherwise) {
  if (!reader.Has(path)) return otherwise;
  const std::string word = reader.Text(path);
  if (const auto action = core::WatchdogActionFromName(word)) return *action;
  const std::vector<std::string> words = {"restart", "new_slice", "fail"};
  const auto nearest = base::Nearest(word, words);
  reader.Complain(
      path, path + ": \"" + word + "\" is none of its words",
      nearest ? "did you mean " + *nearest + "?" : "write one of " + base::Join(words, ", "));
  return otherwise;
}

/// "30m", or {after: 30m, do: new_slice}.
std::optional<base::Duration> BuildLimit(Reader& reader, const std::string& path,
                                         core::WatchdogAction& action) {
  const Value* value = reader.Get(path);
  if (value == nullptr) return std::nullopt;
  std::string place = path;
  if (value->is_map()) {
    CheckMembers(reader, path, "after");
    action = BuildAction(reader, path + ".do", action);
    place = path + ".after";
    if (!reader.Has(place)) {
      reader.Complain(place, place + " is missing", "write it like after: 30m");
      return std::nullopt;
    }
  }
  const auto limit = ReadDuration(*reader.Get(place));
  if (!limit.ok()) {
    reader.Complain(place, limit.error());
    return std::nullopt;
  }
  if (limit->count() == 0) reader.Complain(place, place + " must be longer than nothing");
  return *limit;
}

void BuildRule(Reader& reader, const std::string& path, core::WatchdogSpec& watchdog) {
  const Value* value = reader.Get(path);
  if (value == nullptr) return;
  core::OutputRule rule;
  std::string place = path;
  if (value->is_map()) {
    CheckMembers(reader, path, "match");
    place = path + ".match";
    rule.action = BuildAction(reader, path + ".do", rule.action);
  } else if (!value->is_scalar()) {
    reader.Complain(path, path + ": expected a pattern or {match, do}, found a list");
    return;
  }
  rule.match = reader.Required(place, "match: \"loss.*nan\"");
  if (rule.match.empty()) return;
  const auto regex = base::Regex::Compile(rule.match);
  if (!regex.ok()) reader.Complain(place, regex.error());
  watchdog.bad_output.push_back(std::move(rule));
}

}  // namespace

core::WatchdogSpec BuildWatchdog(Reader& reader) {
  core::WatchdogSpec watchdog;
  watchdog.no_output = BuildLimit(reader, "watchdog.no_output", watchdog.on_no_output);
  watchdog.max_duration = BuildLimit(reader, "watchdog.max_duration", watchdog.on_max_duration);
  const std::string path = "watchdog.bad_output";
  const Value* value = reader.Get(path);
  if (value != nullptr && value->is_scalar()) BuildRule(reader, path, watchdog);
  for (std::size_t i = 0; i < reader.Length(path); ++i) {
    BuildRule(reader, path + "[" + std::to_string(i) + "]", watchdog);
  }
  return watchdog;
}

}  // namespace jobman::config
