#pragma once

#include <span>
#include <string>
#include <string_view>

#include "jobman/base/result.hpp"

namespace jobman::config {

/// What a value must look like.
enum class Type {
  kText,      ///< a scalar, kept as written
  kWord,      ///< one of KeyRow::words
  kBool,      ///< true or false
  kNumber,    ///< a whole number, not negative
  kCount,     ///< a number, or "unlimited"
  kDuration,  ///< "90s", "1h30m"; a bare number is seconds
  kDeadline,  ///< a duration, or a time of RFC 3339
  kHosts,     ///< "all", a host number, a list of them, or "0,3-7"
  kTextList,  ///< a list of scalars
  kTextMap,   ///< a map from names to scalars
  kSecrets,   ///< a list of names or of {name, file}
  kLimit,     ///< a duration, or {after, do}
  kPatterns,  ///< a regular expression, or a list of them and of {match, do}
  kSource,    ///< {env: NAME} or {file: PATH}
  kHooks,     ///< a command, a URL, a map that is a hook, or a list of these
  kMap,       ///< a map of the keys that rows below this one name
  kSteps,     ///< a list of such maps
  kAny,       ///< not looked at
};

/// Whether a key does something yet. One that does not is refused by name, never ignored.
enum class KeyStatus { kWorks, kNotYet };

/// One key of the job file. The table of these rows is the only place that knows the keys: checks,
/// `config explain` and docs/job-file.md are made from it.
struct KeyRow {
  std::string_view path = {};  ///< "tpu.zone"; "setup[].run" for the keys of a list's maps
  Type type = Type::kText;
  KeyStatus status = KeyStatus::kWorks;
  std::string_view fallback = {};  ///< what holds when it is absent; "required" where it may not be
  std::string_view words = {};     ///< for kWord, separated by '|'
  std::string_view later = {};     ///< words that are known and not supported yet
  std::string_view about = {};     ///< one line
  std::string_view since = "0.1";
};

/// All rows, in the order of docs/job-file.md; a key follows its parent.
std::span<const KeyRow> Schema();
/// The row of a path as written ("setup[0].run" and "setup.0.run" find "setup[].run").
const KeyRow* FindKey(std::string_view path);
/// "text", "true or false", "a list of texts": for messages and docs.
std::string_view TypeText(Type type);

/// What `config explain KEY` prints; with an empty path the list of all keys. The error names the
/// nearest key.
base::Result<std::string> ExplainKey(std::string_view path);
/// docs/job-file.md.
std::string SchemaMarkdown();

}  // namespace jobman::config
