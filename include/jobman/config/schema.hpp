#pragma once

#include <span>
#include <string>
#include <string_view>

#include "jobman/base/result.hpp"

namespace jobman::config {

/// The type of a value.
enum class Type {
  kText,          ///< a scalar, kept as written
  kPath,          ///< a path; made absolute
  kWord,          ///< one of KeyRow::allowed
  kBool,          ///< true or false
  kNumber,        ///< a whole number, not negative, within KeyRow::allowed
  kSize,          ///< bytes: "100M", "1G"; within KeyRow::allowed
  kCount,         ///< a number, or "unlimited"
  kDuration,      ///< "90s", "1h30m"; a bare number is seconds
  kLimit,         ///< a duration above 0
  kDeadline,      ///< a duration above 0, or a time of RFC 3339
  kHosts,         ///< "all", a host number, a list of them, or "0,3-7"
  kTextList,      ///< a list of scalars
  kTextMap,       ///< a map from names to scalars
  kSource,        ///< {env: NAME} or {file: PATH}: where to read a secret
  kTextOrSource,  ///< a text, or where to read it
  kMap,           ///< a map of the keys in the rows below this one
  kMaps,          ///< a list of such maps
  kNamed,         ///< a map from names of the user's to such maps
  kAny,           ///< not checked
};

enum class KeyStatus {
  kWorks,       ///< has a field in core::JobSpec
  kTranslated,  ///< translated to other keys when the file is read, or has no effect
  kIgnored,     ///< of a snapshot of Python jobman; read over, with a warning
  kNotYet,      ///< refused, never ignored
};

/// One key of the job file. Checks, `config explain` and docs/guide/job-file.md come from the table
/// of these rows; tests compare it with the fields of core::JobSpec.
struct KeyRow {
  std::string_view path = {};  ///< "tpu.zone"; "setup[].run" for the keys of a list's maps
  Type type = Type::kText;
  KeyStatus status = KeyStatus::kWorks;
  std::string_view fallback = {};  ///< the default; "required" if there is none
  std::string_view about = {};     ///< one line
  /// kWord: separated by '|'; kNumber, kSize: "1-256"; kMap, kTextMap: what users write instead of
  /// a map, in words.
  std::string_view allowed = {};
  std::string_view example = {};  ///< of a required key or of a list, for messages
  /// kMap, kMaps: a scalar in place of the map is short for a map with this key.
  std::string_view short_for = {};
  /// kMaps, kTextList: a single item is short for a list with this item.
  bool or_one = false;
  /// An empty text counts as no value: files of Python jobman have it for "nothing".
  bool empty_is_none = false;
  std::string_view since = "0.1";
};

/// All rows, in the order of docs/guide/job-file.md; a key follows its parent.
std::span<const KeyRow> Schema();
/// The row of a path as written: "setup[0].run", "setup.0.run" and "setup.run" find "setup[].run".
const KeyRow* FindKey(std::string_view path);
/// The prefix of the paths of its children: "tpu.", "setup[].", "on.*[].", "repos.*.".
std::string ChildPrefix(const KeyRow& row);
/// "text", "true or false", "a list of texts": for messages and docs.
std::string TypeText(const KeyRow& row);
/// The same for a kMap or for an item of kMaps: "a map", "text or a map".
std::string ItemText(const KeyRow& row);

/// What the value may be, with the words of a kWord: "spot, ondemand".
std::string ValueText(const KeyRow& row);

/// The output of `config explain KEY`; with an empty path, the list of all keys. The error names
/// the nearest key.
base::Result<std::string> ExplainKey(std::string_view path);

}  // namespace jobman::config
