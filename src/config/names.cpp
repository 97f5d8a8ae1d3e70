#include "config/names.hpp"

#include <algorithm>

#include "config/utf8.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/base/url.hpp"
#include "jobman/core/job_spec.hpp"

namespace jobman::config {
namespace {

constexpr std::string_view kLower = "abcdefghijklmnopqrstuvwxyz";
constexpr std::string_view kUpper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
constexpr std::string_view kDigits = "0123456789";
constexpr std::size_t kLongestName = 40;

/// The syntax of one kind of name.
struct Rule {
  std::string_view signs = {};    ///< allowed besides lower-case letters and digits
  bool upper = false;             ///< whether capitals are allowed
  std::string_view allowed = {};  ///< the same in words
  std::size_t longest = 63;
  bool letter_first = true;
  bool no_sign_last = true;
  bool may_be_empty = false;
};

bool IsAllowed(char c, const Rule& rule) {
  return kLower.find(c) != std::string_view::npos || kDigits.find(c) != std::string_view::npos ||
         rule.signs.find(c) != std::string_view::npos ||
         (rule.upper && kUpper.find(c) != std::string_view::npos);
}

base::Status Wrong(std::string_view text, const std::string& why) {
  constexpr std::size_t kShown = 100;
  return base::InvalidArgument("\"" + base::Shorten(text, kShown) + "\" " + why);
}

base::Status Check(std::string_view text, const Rule& rule) {
  if (text.empty()) {
    return rule.may_be_empty ? base::Ok() : base::InvalidArgument("must not be empty");
  }
  for (const char c : text) {
    if (IsAllowed(c, rule)) continue;
    const bool printable = c > ' ' && c < '\x7F';
    const std::string what = c == ' '    ? "a space"
                             : printable ? "'" + std::string(1, c) + "'"
                                         : "a non-ASCII or control character";
    return Wrong(text, "contains " + what + "; only " + std::string(rule.allowed) + " are allowed");
  }
  const bool letter = kLower.find(text.front()) != std::string_view::npos ||
                      (rule.upper && kUpper.find(text.front()) != std::string_view::npos);
  if (rule.letter_first && !letter) return Wrong(text, "does not begin with a letter");
  if (rule.no_sign_last && rule.signs.find(text.back()) != std::string_view::npos) {
    return Wrong(text, "ends with '" + std::string(1, text.back()) + "'");
  }
  if (text.size() > rule.longest) {
    return Wrong(text, "has " + std::to_string(text.size()) + " characters; the limit is " +
                           std::to_string(rule.longest));
  }
  return base::Ok();
}

}  // namespace

base::Status CheckSliceName(std::string_view name) {
  const Rule rule{
      .signs = "-", .allowed = "lower-case letters, digits and -", .longest = kLongestName};
  return Check(name, rule);
}

base::Status CheckJobName(std::string_view name) {
  constexpr std::size_t kLongest = 100;
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 32 || c == '\x7F'; };
  if (name.empty()) return base::InvalidArgument("must not be empty");
  if (std::any_of(name.begin(), name.end(), is_control)) {
    return base::InvalidArgument("contains a control character");
  }
  for (std::size_t at = 0; at < name.size();) {
    const std::size_t length = Utf8Length(name.substr(at));
    if (length == 0) return base::InvalidArgument("contains a byte that is not UTF-8");
    at += length;
  }
  if (name != base::Trim(name)) return Wrong(name, "begins or ends with a space");
  if (name.front() == '-') return Wrong(name, "begins with '-', as an option does");
  if (name.size() <= kLongest) return base::Ok();
  return Wrong(name, "has " + std::to_string(name.size()) + " bytes; the limit is " +
                         std::to_string(kLongest));
}

std::string MakeValidName(std::string_view text) {
  std::string name;
  for (const char c : base::ToLower(text)) {
    const bool allowed = IsAllowed(c, {});
    if (allowed) name += c;
    // One dash for a sequence of other characters; none at the start.
    if (!allowed && !name.empty() && name.back() != '-') name += '-';
  }
  if (!name.empty() && kDigits.find(name.front()) != std::string::npos) name.insert(0, "job-");
  name.resize(std::min(name.size(), kLongestName));
  while (!name.empty() && name.back() == '-') name.pop_back();
  return name.empty() ? "job" : name;
}

base::Status CheckStepName(std::string_view name) {
  if (name == "run") return Wrong(name, "is the name of the command itself; choose another");
  return Check(name, {.signs = "-_.",
                      .upper = true,
                      .allowed = "letters, digits, -, _ and .",
                      .longest = kLongestName});
}

base::Status CheckVariable(std::string_view name, std::string_view value) {
  const std::size_t size = name.size() + 1 + value.size();
  if (size <= core::kLongestVariable) return base::Ok();
  return base::InvalidArgument(
      "the variable " + base::Shorten(name, 100) + " has " + std::to_string(size) +
          " bytes with its name; the limit of Linux is " + std::to_string(core::kLongestVariable),
      "put the value into a file on the hosts and its path into the variable");
}

base::Status CheckTag(std::string_view tag) {
  return CheckResourceName(tag);
}

base::Status CheckResourceName(std::string_view name) {
  return Check(name, {.signs = "-", .allowed = "lower-case letters, digits and -"});
}

base::Status CheckLabelKey(std::string_view key) {
  return Check(
      key,
      {.signs = "-_", .allowed = "lower-case letters, digits, - and _", .no_sign_last = false});
}

base::Status CheckLabelValue(std::string_view value) {
  return Check(value, {.signs = "-_",
                       .allowed = "lower-case letters, digits, - and _",
                       .letter_first = false,
                       .no_sign_last = false,
                       .may_be_empty = true});
}

base::Status CheckMetadataKey(std::string_view key) {
  return Check(key, {.signs = "-_",
                     .upper = true,
                     .allowed = "letters, digits, - and _",
                     .longest = 128,
                     .letter_first = false,
                     .no_sign_last = false});
}

base::Status CheckZone(std::string_view zone) {
  JM_TRY(Check(zone, {.signs = "-", .allowed = "lower-case letters, digits and -"}));
  const auto dashes = std::count(zone.begin(), zone.end(), '-');
  // "b", or "ai1a": never a number alone.
  const char letter = zone[zone.rfind('-') + 1];
  if (dashes >= 2 && kLower.find(letter) != std::string_view::npos) return base::Ok();
  base::Error error = base::InvalidArgument("\"" + std::string(zone) + "\" is not a zone");
  if (dashes == 1 && kDigits.find(zone.back()) != std::string_view::npos) {
    error.message = "\"" + std::string(zone) + "\" is a region";
  }
  error.hint = "a zone looks like us-central2-b";
  return error;
}

base::Status CheckProject(std::string_view project) {
  return Check(
      project,
      {.signs = "-.:", .allowed = "lower-case letters, digits and -", .letter_first = false});
}

base::Status CheckEndpoint(std::string_view endpoint) {
  if (endpoint == "local" || endpoint == "google") return base::Ok();
  if (base::Contains(endpoint, "://")) {
    const auto url = base::ParseEndpoint(endpoint);
    return url.ok() ? base::Ok() : base::Status(url.error());
  }
  const auto near = base::Nearest(endpoint, {"local", "google"});
  return base::InvalidArgument(
      "\"" + std::string(endpoint) + "\" is not an endpoint",
      near ? "did you mean " + *near + "?" : "write google, local, or an http(s) URL");
}

base::Status CheckLogin(std::string_view login) {
  if (login.starts_with('_')) login.remove_prefix(1);
  return Check(login, {.signs = "-_",
                       .allowed = "lower-case letters, digits, - and _",
                       .longest = 32,
                       .no_sign_last = false});
}

bool LooksSecret(std::string_view variable) {
  std::vector<std::string> words = base::Split(base::ToLower(variable), '_');
  for (const std::string_view harmless : {"file", "path", "dir", "name", "url", "len"}) {
    if (words.back() == harmless) return false;
  }
  const auto has_secret = [](const std::string& word) { return base::Contains(word, "secret"); };
  // ACCESS_KEY_ID, but not SECRET_ID.
  if (words.back() == "id" && std::none_of(words.begin(), words.end(), has_secret)) return false;
  // Numbers of tokens are not tokens.
  for (const std::string_view count : {"max", "min", "num", "per", "total", "n"}) {
    if (std::find(words.begin(), words.end(), count) != words.end()) return false;
  }
  return std::any_of(words.begin(), words.end(), [](std::string& word) {
    for (const std::string_view part : {"secret", "passw", "passphrase", "credential"}) {
      if (base::Contains(word, part)) return true;
    }
    if (word == "pass" || word == "pat") return true;
    while (!word.empty() && kDigits.find(word.back()) != std::string_view::npos) word.pop_back();
    if (word.ends_with('s')) word.pop_back();
    if (word.ends_with("token") || word == "key") return true;
    // Not MONKEY.
    for (const std::string_view kind :
         {"api", "access", "private", "auth", "ssh", "encryption", "signing", "my"}) {
      if (word.ends_with(std::string(kind) + "key")) return true;
    }
    return false;
  });
}

std::string MakeLogin(std::string_view login) {
  std::string name;
  for (const char c : base::ToLower(login.substr(0, login.find('@')))) {
    name += IsAllowed(c, {.signs = "-_"}) ? c : '_';
  }
  name.resize(std::min<std::size_t>(name.size(), 32));
  return name == "root" || !CheckLogin(name).ok() ? "jobman" : name;
}

}  // namespace jobman::config
