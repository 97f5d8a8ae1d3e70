#pragma once

#include <span>
#include <string>
#include <string_view>

#include "jobman/base/result.hpp"

namespace jobman::config {

/// What a value must look like.
enum class Type {
  kText,          ///< a scalar, kept as written
  kPath,          ///< a path; "~" and what it is relative to are put before it
  kWord,          ///< one of KeyRow::allowed
  kBool,          ///< true or false
  kNumber,        ///< a whole number, not negative, within KeyRow::allowed
  kCount,         ///< a number, or "unlimited"
  kDuration,      ///< "90s", "1h30m"; a bare number is seconds
  kLimit,         ///< a duration above 0
  kDeadline,      ///< a duration above 0, or a time of RFC 3339
  kHosts,         ///< "all", a host number, a list of them, or "0,3-7"
  kTextList,      ///< a list of scalars
  kTextMap,       ///< a map from names to scalars
  kSource,        ///< {env: NAME} or {file: PATH}: where a secret is read
  kTextOrSource,  ///< a text, or where it is read
  kMap,           ///< a map of the keys in the rows below this one
  kMaps,          ///< a list of such maps
  kAny,           ///< not looked at
};

enum class KeyStatus {
  kWorks,       ///< has a field in core::JobSpec
  kTranslated,  ///< works: while the file is read it becomes other keys, or has no effect
  kNotYet,      ///< refused by name, never ignored
};

/// One key of the job file. Checks, `config explain` and docs/job-file.md are made from the table
/// of these rows; tests compare it with the fields of core::JobSpec.
struct KeyRow {
  std::string_view path = {};  ///< "tpu.zone"; "setup[].run" for the keys of a list's maps
  Type type = Type::kText;
  KeyStatus status = KeyStatus::kWorks;
  std::string_view fallback = {};  ///< what holds when it is absent; "required" if it may not be
  std::string_view about = {};     ///< one line
  std::string_view allowed = {};   ///< kWord: separated by '|'; kNumber: "1-256"
  std::string_view later = {};     ///< words that are known and not supported yet
  std::string_view example = {};   ///< of a required key: what to write
  /// kMap, kMaps: a scalar in place of a map is the value of this key.
  std::string_view short_for = {};
  /// kMaps, kTextList: a single item may stand for a list of one.
  bool or_one = false;
  std::string_view since = "0.1";
};

/// All rows, in the order of docs/job-file.md; a key follows its parent.
std::span<const KeyRow> Schema();
/// The row of a path as written: "setup[0].run", "setup.0.run" and "setup.run" find "setup[].run".
const KeyRow* FindKey(std::string_view path);
/// What the paths of the rows below begin with: "tpu.", "setup[].", "on.*[].".
std::string ChildPrefix(const KeyRow& row);
/// "text", "true or false", "a list of texts": for messages and docs.
std::string TypeText(const KeyRow& row);
/// The same for a kMap, or an item of kMaps: "a map", "text or a map".
std::string ItemText(const KeyRow& row);

/// What `config explain KEY` prints; with an empty path the list of all keys. The error names the
/// nearest key.
base::Result<std::string> ExplainKey(std::string_view path);
/// docs/job-file.md.
std::string SchemaMarkdown();

}  // namespace jobman::config
