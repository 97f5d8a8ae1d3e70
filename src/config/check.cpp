#include "config/check.hpp"

#include "config/scalars.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/base/time.hpp"
#include "jobman/config/schema.hpp"

namespace jobman::config {
namespace {

std::string Quoted(std::string_view text) {
  return "\"" + std::string(text) + "\"";
}

std::string_view LastPart(std::string_view path) {
  const std::size_t dot = path.rfind('.');
  return dot == std::string_view::npos ? path : path.substr(dot + 1);
}

/// "tpu" of "tpu.zone", "" of "tpu".
std::string_view ParentOf(std::string_view path) {
  const std::size_t dot = path.rfind('.');
  return dot == std::string_view::npos ? std::string_view{} : path.substr(0, dot);
}

class Checker {
 public:
  explicit Checker(Diagnostics& out) : out_(out) {}

  /// `path` as the user knows it ("setup[0]"), `row_path` as the table does ("setup[]").
  void CheckMap(Value& map, const std::string& path, const std::string& row_path) {
    for (Value& child : map.children) {
      const std::string dot = path.empty() ? "" : ".";
      const std::string child_path = path + dot + child.key;
      const KeyRow* row = FindRow(row_path + dot + child.key);
      if (row == nullptr) {
        out_.Report(child.key_pos, "unknown key " + Quoted(child_path),
                    NearestKeyHint(row_path, path, child.key));
        child.kind = Value::Kind::kBroken;
      } else {
        CheckKey(child, child_path, *row);
      }
    }
  }

 private:
  /// Exact rows only: FindKey() would take "setup.0" for an index.
  static const KeyRow* FindRow(std::string_view path) {
    for (const KeyRow& row : Schema()) {
      if (row.path == path) return &row;
    }
    return nullptr;
  }

  void CheckKey(Value& value, const std::string& path, const KeyRow& row) {
    if (value.kind == Value::Kind::kBroken || value.is_null()) return;
    if (row.status == KeyStatus::kNotYet)
      return RefuseYet(value, value.key_pos, path, "leave " + path + " out");
    if (!FitsKind(value, path, row)) return;
    if (row.type == Type::kMap) return CheckMap(value, path, std::string(row.path));
    if (row.type == Type::kSteps) return CheckSteps(value, path, row);
    if (const auto problem = CheckScalar(value, row)) {
      out_.Report(value.pos, path + ": " + problem->message, problem->hint);
      value.kind = Value::Kind::kBroken;
      return;
    }
    if (row.type == Type::kWord) CheckWord(value, path, row);
    if (row.type == Type::kTextList || row.type == Type::kTextMap) CheckScalarsIn(value, path);
    if (path == "job.queue.enabled" && IsTrueText(value.text)) {
      RefuseYet(value, value.pos, "job.queue.enabled: true", "write false, or leave it out");
    }
  }

  void RefuseYet(Value& value, Position at, const std::string& what, const std::string& hint) {
    out_.Report(at, what + " is not supported yet", hint, base::Reason::kNotSupported);
    value.kind = Value::Kind::kBroken;
  }

  /// Whether a list, a map or a scalar stands where one is expected.
  bool FitsKind(Value& value, const std::string& path, const KeyRow& row) {
    if (path == "tpu.zone" && value.is_list()) {
      RefuseYet(value, value.pos, "tpu.zone: a list of zones", "write one zone");
      return false;
    }
    bool fits = true;
    switch (row.type) {
      case Type::kMap:
      case Type::kTextMap:
      case Type::kSource:
        fits = value.is_map();
        break;
      case Type::kSteps:
      case Type::kTextList:
      case Type::kSecrets:
        fits = value.is_list();
        break;
      case Type::kHosts:
      case Type::kPatterns:
        fits = value.is_list() || value.is_scalar();
        break;
      case Type::kLimit:
        fits = value.is_map() || value.is_scalar();
        break;
      case Type::kAny:
      case Type::kHooks:
        break;
      case Type::kText:
      case Type::kWord:
      case Type::kBool:
      case Type::kNumber:
      case Type::kCount:
      case Type::kDuration:
      case Type::kDeadline:
        fits = value.is_scalar();
        break;
    }
    if (!fits) Expected(value, path, row.type);
    return fits;
  }

  void Expected(Value& value, const std::string& path, Type type) {
    out_.Report(value.pos, path + ": expected " + std::string(TypeText(type)) + ", found " +
                               std::string(KindText(value)));
    value.kind = Value::Kind::kBroken;
  }

  void CheckSteps(Value& list, const std::string& path, const KeyRow& row) {
    for (std::size_t i = 0; i < list.children.size(); ++i) {
      Value& step = list.children[i];
      const std::string step_path = path + "[" + std::to_string(i) + "]";
      if (step.is_map()) {
        CheckMap(step, step_path, std::string(row.path) + "[]");
      } else if (step.kind != Value::Kind::kBroken) {
        Expected(step, step_path, Type::kMap);
      }
    }
  }

  void CheckScalarsIn(Value& value, const std::string& path) {
    for (std::size_t i = 0; i < value.children.size(); ++i) {
      Value& child = value.children[i];
      if (child.is_scalar() || child.kind == Value::Kind::kBroken) continue;
      if (child.is_null() && value.is_map()) continue;
      const std::string name =
          value.is_map() ? path + "." + child.key : path + "[" + std::to_string(i) + "]";
      Expected(child, name, Type::kText);
    }
  }

  void CheckWord(Value& value, const std::string& path, const KeyRow& row) {
    const std::vector<std::string> words = base::Split(row.words, '|');
    for (const std::string& word : base::Split(row.later, '|')) {
      if (value.text != word) continue;
      return RefuseYet(
          value, value.pos, path + ": " + word,
          words.size() == 1 ? "write " + words[0] : "write one of " + base::Join(words, ", "));
    }
    for (const std::string& word : words) {
      if (value.text == word) return;
    }
    const auto nearest = base::Nearest(value.text, words);
    out_.Report(
        value.pos, path + ": " + Quoted(value.text) + " is none of its words",
        nearest ? "did you mean " + *nearest + "?" : "write one of " + base::Join(words, ", "));
    value.kind = Value::Kind::kBroken;
  }

  Diagnostics& out_;
};

}  // namespace

std::string NearestKeyHint(std::string_view parent, std::string_view shown, std::string_view key) {
  std::vector<std::string> siblings;
  std::string elsewhere;
  for (const KeyRow& row : Schema()) {
    if (ParentOf(row.path) == parent) siblings.emplace_back(LastPart(row.path));
    if (elsewhere.empty() && LastPart(row.path) == key) elsewhere = row.path;
  }
  const std::string prefix = shown.empty() ? "" : std::string(shown) + ".";
  if (const auto nearest = base::Nearest(key, siblings)) {
    return "did you mean " + Quoted(prefix + *nearest) + "?";
  }
  return elsewhere.empty() ? "" : "did you mean " + Quoted(elsewhere) + "?";
}

void CheckAgainstSchema(Value& root, Diagnostics& out) {
  Checker(out).CheckMap(root, "", "");
}

}  // namespace jobman::config
