#include <algorithm>
#include <optional>
#include <set>

#include "jobman/base/json.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/config/old_state.hpp"

namespace jobman::config {
namespace {

constexpr std::int64_t kLargestId = 999'999'999;

std::optional<std::int64_t> OldIdOf(std::string_view key) {
  constexpr std::string_view kPrefix = "job_";
  if (key.starts_with(kPrefix)) key.remove_prefix(kPrefix.size());
  const auto id = base::ParseNumber(key);
  if (!id || *id < 1 || *id > kLargestId) return std::nullopt;
  return id;
}

}  // namespace

base::Result<OldJobs> ReadOldJobs(std::string_view text) {
  JM_ASSIGN_OR_RETURN(const base::Json json, base::ParseJson(text));
  if (!json.is_object()) return base::InvalidArgument("meta.json is no JSON object");
  OldJobs found;
  std::set<std::int64_t> known;
  for (const auto& [key, entry] : json.items()) {
    const auto id = OldIdOf(key);
    const bool twice = id && known.contains(*id);
    if (!id || !entry.is_object() || twice) {
      const std::string why = twice ? "its number is there twice" : "it is no entry of a job";
      found.unclear.push_back("meta.json: \"" + base::Shorten(key, 40) + "\": " + why);
      continue;
    }
    known.insert(*id);
    found.jobs.push_back({.id = *id,
                          .user = base::GetString(entry, "user"),
                          .name = base::GetString(entry, "name"),
                          .folder = base::GetString(entry, "job_dir"),
                          .config_file = base::GetString(entry, "config_path"),
                          .session = base::GetString(entry, "session_name")});
  }
  std::sort(found.jobs.begin(), found.jobs.end(),
            [](const OldJob& a, const OldJob& b) { return a.id < b.id; });
  return found;
}

}  // namespace jobman::config
