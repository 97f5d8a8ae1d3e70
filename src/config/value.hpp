#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace jobman::config {

/// A place in one of the sources of Diagnostics.
struct Position {
  int source = -1;  ///< index into the sources; -1: nowhere
  int line = 0;     ///< from 1; 0: the source as a whole
  int column = 0;   ///< from 1, in bytes
  friend bool operator==(const Position&, const Position&) = default;
};

/// A node of a YAML document. Scalars keep their text, so that 1.50 stays "1.50"; the key decides
/// on the type.
struct Value {
  enum class Kind {
    kNull,
    kScalar,
    kList,
    kMap,
    kBroken,  ///< a problem was reported; no further reports about it
  };
  /// Progress of interpolation of a scalar.
  enum class Progress { kRaw, kBusy, kDone };

  Kind kind = Kind::kNull;
  Progress progress = Progress::kRaw;
  bool quoted = false;    ///< a text, even if it looks like a number
  bool implied = false;   ///< the list or map around it was not written (a short form)
  std::string key = {};   ///< within a map
  Position key_pos = {};  ///< of the key
  Position pos = {};      ///< of the value
  std::string text = {};  ///< of a scalar
  std::vector<Value> children = {};

  bool is_map() const { return kind == Kind::kMap; }
  bool is_list() const { return kind == Kind::kList; }
  bool is_scalar() const { return kind == Kind::kScalar; }
  bool is_null() const { return kind == Kind::kNull; }

  /// The member of a map; nullptr when there is none.
  const Value* Find(std::string_view name) const;
  Value* Find(std::string_view name);
};

/// A scalar made by the program, with the place it came from.
Value Scalar(std::string text, Position pos);

/// "a list", "a number", "text": for messages.
std::string_view KindText(const Value& value);
/// A boolean of YAML 1.1 (which the Python tools read), unquoted.
bool IsBoolText(const Value& value);
bool IsTrueText(std::string_view text);
bool IsNumberText(const Value& value);

/// "tpu.zone", "setup[0].run" as its parts: {"tpu", "zone"}, {"setup", "0", "run"}.
std::vector<std::string> SplitPath(std::string_view path);
/// The inverse, with indices in brackets where `part` is a number.
std::string JoinPath(const std::vector<std::string>& parts);
/// The value at a path; nullptr when there is none.
const Value* FindAt(const Value& root, const std::vector<std::string>& parts);

}  // namespace jobman::config
