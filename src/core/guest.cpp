#include "jobman/core/guest.hpp"

#include <algorithm>

#include "jobman/base/clean.hpp"
#include "jobman/base/hash.hpp"
#include "jobman/base/strings.hpp"

namespace jobman::core {
namespace {

/// "USER:TYPE DATA" of a line of `ssh-keys`; what follows is a comment, or a time when the login
/// expires.
std::string_view LoginPart(std::string_view line) {
  line = base::Trim(line);
  const std::size_t type = line.find(' ');
  if (type == std::string_view::npos) return line;
  return line.substr(0, line.find(' ', type + 1));
}

bool IsAmong(const std::vector<std::string>& lines, std::string_view line) {
  return std::any_of(lines.begin(), lines.end(),
                     [&](const std::string& one) { return LoginPart(one) == LoginPart(line); });
}

constexpr std::size_t kLongestUser = 32;
constexpr std::size_t kLongestWord = 128;

}  // namespace

base::Status CheckGuestUser(std::string_view user) {
  const std::string quoted = '"' + base::CleanLine(user) + '"';
  if (user == "root") {
    return base::InvalidArgument("hosts let nobody log in as root",
                                 "name another user: with sudo it may do all that root may");
  }
  constexpr std::string_view kFirst = "abcdefghijklmnopqrstuvwxyz_";
  const bool fits =
      !user.empty() && user.size() <= kLongestUser &&
      kFirst.find(user.front()) != std::string_view::npos &&
      user.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_-") == std::string_view::npos;
  if (fits) return base::Ok();
  return base::InvalidArgument(
      quoted + " is no login name of a host",
      "write up to 32 lower-case letters, digits, - and _, a letter first");
}

std::string UserInComment(const PublicKey& key) {
  std::string user = key.comment.substr(0, key.comment.find('@'));
  return CheckGuestUser(user).ok() ? user : std::string{};
}

base::Status CheckJobWord(std::string_view word) {
  if (!word.empty() && word.size() <= kLongestWord && base::CleanLine(word) == word)
    return base::Ok();
  return base::InvalidArgument('"' + base::Shorten(base::CleanLine(word), kLongestWord) +
                                   "\" is no number, name or pattern of a job",
                               "write 42, train, or 'train-*'");
}

std::string FingerprintOf(const PublicKey& key) {
  const std::string print = base::KeyFingerprint(key.type + " " + key.data);
  const std::size_t hash = print.find("SHA256:");
  return hash == std::string::npos ? print : print.substr(hash);
}

std::string LoginOf(const Guest& guest) {
  return guest.user + ":" + guest.key.type + " " + guest.key.data + " " + guest.user;
}

bool MeansJob(std::string_view word, JobId job, std::string_view name) {
  if (const auto number = base::ParseNumber(word)) return *number == job.value;
  return base::GlobMatch(word, name);
}

bool IsLetIn(const Guest& guest, JobId job, std::string_view name) {
  if (guest.leaving) return false;
  return guest.jobs.empty() ||
         std::any_of(guest.jobs.begin(), guest.jobs.end(),
                     [&](const std::string& word) { return MeansJob(word, job, name); });
}

bool IsSameLogin(const Guest& one, const Guest& other) {
  return one.user == other.user && one.key.type == other.key.type && one.key.data == other.key.data;
}

std::optional<Guest> FindLogin(const std::vector<Guest>& guests, const Guest& login) {
  const auto found = std::find_if(guests.begin(), guests.end(),
                                  [&](const Guest& one) { return IsSameLogin(one, login); });
  return found == guests.end() ? std::nullopt : std::optional(*found);
}

bool HasLeft(const Guest& guest, JobId job) {
  return std::find(guest.left_on.begin(), guest.left_on.end(), job) != guest.left_on.end();
}

bool HasLogin(std::string_view keys, std::string_view line) {
  return IsAmong(base::Split(keys, '\n'), line);
}

std::string ChangedLogins(std::string_view keys, const LoginChange& change) {
  std::vector<std::string> lines = base::Split(keys, '\n');
  std::erase_if(lines, [&](const std::string& line) { return IsAmong(change.remove, line); });
  std::string changed = base::Join(lines, "\n");
  for (const std::string& line : change.add) {
    if (HasLogin(changed, line)) continue;
    if (!changed.empty() && !changed.ends_with('\n')) changed += '\n';
    changed += line;
  }
  return changed;
}

LoginChange LoginsFor(const std::vector<Guest>& guests, JobId job, std::string_view name,
                      std::string_view kept) {
  LoginChange change;
  for (const Guest& guest : guests) {
    const std::string line = LoginOf(guest);
    if (IsLetIn(guest, job, name)) {
      change.add.push_back(line);
    } else if (HasLeft(guest, job) && !HasLogin(kept, line)) {
      change.remove.push_back(line);
    }
  }
  return change;
}

bool IsTrueIn(const std::map<std::string, std::string>& metadata, const std::string& key) {
  const auto item = metadata.find(key);
  if (item == metadata.end()) return false;
  const std::string value = base::ToLower(item->second);
  return value == "true" || value == "y" || value == "yes" || value == "1";
}

base::Json GuestToJson(const Guest& guest) {
  base::Json left = base::Json::array();
  for (const JobId job : guest.left_on) left.push_back(job.value);
  return {{"user", guest.user},       {"type", guest.key.type},
          {"data", guest.key.data},   {"comment", guest.key.comment},
          {"jobs", guest.jobs},       {"added_at", base::ToMillis(guest.added_at)},
          {"leaving", guest.leaving}, {"left_on", std::move(left)}};
}

base::Result<Guest> GuestFromJson(const base::Json& json) {
  Guest guest{.user = base::GetString(json, "user"),
              .key = {.type = base::GetString(json, "type"),
                      .data = base::GetString(json, "data"),
                      .comment = base::GetString(json, "comment")},
              .added_at = base::FromMillis(base::GetInt(json, "added_at")),
              .leaving = base::GetBool(json, "leaving")};
  for (const base::Json& word : base::GetMember(json, "jobs")) {
    if (word.is_string()) guest.jobs.push_back(word.get<std::string>());
  }
  for (const base::Json& job : base::GetMember(json, "left_on")) {
    if (job.is_number_integer()) guest.left_on.push_back(JobId{job.get<std::int64_t>()});
  }
  // Half a record would let in more than was asked for: a list that is lost means every job.
  if (GuestToJson(guest) == json) return guest;
  base::Error newer = base::InvalidArgument("a guest is recorded in a way that is not known here");
  newer.reason = base::Reason::kNewerStore;
  newer.hint = "use the newest jobman that has worked on this store";
  return newer;
}

}  // namespace jobman::core
