#include "config/check.hpp"

#include <algorithm>
#include <set>
#include <span>
#include <utility>

#include "config/forms.hpp"
#include "config/reader.hpp"
#include "config/scalars.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/config/schema.hpp"

namespace jobman::config {
namespace {

using base::Json;

std::string Quoted(std::string_view text) {
  return "\"" + std::string(text) + "\"";
}

std::string Below(const std::string& path, std::string_view key) {
  return path + (path.empty() ? "" : ".") + std::string(key);
}

std::string_view LastPart(std::string_view path) {
  return path.substr(path.rfind('.') + 1);
}

/// Whether the row is directly below the prefix.
bool IsChild(const KeyRow& row, std::string_view prefix) {
  return row.path.starts_with(prefix) &&
         row.path.find_first_of(".[", prefix.size()) == std::string_view::npos;
}

using Rows = std::span<const KeyRow>;

/// The row with this path; nullptr if there is none.
const KeyRow* FindRow(Rows rows, const std::string& path) {
  for (const KeyRow& row : rows) {
    if (row.path == path) return &row;
  }
  return nullptr;
}

std::string ExampleOf(const KeyRow& row) {
  return "for example: " + std::string(LastPart(row.path)) + ": " + std::string(row.example);
}

/// "api_key: {file: ~/.config/jobman/api_key}".
std::string ExampleOfSource(const KeyRow& row) {
  const std::string key(LastPart(row.path));
  return key + ": {file: ~/.config/jobman/" + key + "}";
}

Position PlaceOf(const Value& value) {
  return value.key_pos.line > 0 ? value.key_pos : value.pos;
}

/// Expands a short form: puts the value into the list or map that it stands for.
void Wrap(Value& value, Value::Kind kind, std::string_view key) {
  Value outer = value;
  outer.kind = kind;
  outer.text.clear();
  Value inner = std::move(value);
  inner.key = key;
  inner.key_pos = inner.pos;
  inner.implied = true;
  outer.children = {std::move(inner)};
  value = std::move(outer);
}

/// What a file of Python jobman may have for null.
bool IsEmptyText(const Value& value) {
  return value.is_scalar() && base::Trim(value.text).empty();
}

/// Null, or a map with nothing else in it.
bool AsksForNothing(const Value& value) {
  return value.is_null() || (value.is_map() && std::all_of(value.children.begin(),
                                                           value.children.end(), &AsksForNothing));
}

/// job.env_type as it is written; "none" if it is not.
std::string EnvTypeOf(const Value& root) {
  const Value* const job = root.Find("job");
  const Value* const type = job != nullptr && job->is_map() ? job->Find("env_type") : nullptr;
  return type != nullptr && type->is_scalar() && !type->text.empty() ? type->text : "none";
}

bool IsEnvironment(std::string_view path) {
  return path == "docker" || path == "conda" || path == "venv";
}

/// The working key below `prefix` that an unknown one is probably meant to be.
std::optional<std::string> MeantBy(Rows rows, std::string_view prefix, const std::string& key) {
  std::vector<std::string> siblings;
  for (const KeyRow& row : rows) {
    const bool here = IsChild(row, prefix) && row.status != KeyStatus::kIgnored;
    if (here) siblings.emplace_back(LastPart(row.path));
  }
  return base::Nearest(key, siblings);
}

/// NearestKeyHint() among the rows of any format.
std::string HintAmong(Rows rows, std::string_view prefix, std::string_view shown,
                      std::string_view key) {
  constexpr std::size_t kFew = 8;
  std::vector<std::string> siblings;
  std::vector<std::string> working;
  std::string elsewhere;
  for (const KeyRow& row : rows) {
    if (row.status == KeyStatus::kIgnored) continue;
    const bool here = IsChild(row, prefix);
    if (here) siblings.emplace_back(LastPart(row.path));
    if (here && row.status != KeyStatus::kNotYet) working.emplace_back(LastPart(row.path));
    const bool written = !row.path.starts_with("array.");  // by people
    if (written && elsewhere.empty() && LastPart(row.path) == key) elsewhere = row.path;
  }
  if (const auto nearest = base::Nearest(key, siblings)) {
    return "did you mean " + Quoted(Below(std::string(shown), *nearest)) + "?";
  }
  if (!elsewhere.empty()) return "did you mean " + Quoted(elsewhere) + "?";
  return working.empty() || working.size() > kFew
             ? ""
             : "the keys here are: " + base::Join(working, ", ");
}

class Checker {
 public:
  Checker(const Format& format, std::string env_type, const Defaults& defaults, Diagnostics& out)
      : format_(format), env_type_(std::move(env_type)), defaults_(defaults), out_(out) {}

  /// `path` names the map for the user ("setup[0]"), `prefix` begins the rows of its keys
  /// ("setup[]."), `place` is where missing keys are reported.
  Json CheckMap(Value& map, const std::string& path, const std::string& prefix, Position place) {
    Json json = Json::object();
    std::set<std::string> misspelt;
    for (Value& child : map.children) {
      const KeyRow* row = FindRow(format_.rows, prefix + child.key);
      const std::string child_path = child.implied ? path : Below(path, child.key);
      if (row == nullptr) {
        misspelt.insert(MeantBy(format_.rows, prefix, child.key).value_or(""));
        Break(child, child.key_pos, "unknown key " + Quoted(child_path),
              HintFor(child.key, path, prefix));
      } else if (auto value = CheckKey(child, child_path, *row)) {
        if (row->status == KeyStatus::kWorks) json[child.key] = std::move(*value);
      }
    }
    // A key that is only misspelt is not missing.
    for (const KeyRow& row : format_.rows) {
      const bool needed = row.fallback == "required" && IsChild(row, prefix);
      if (needed && !misspelt.contains(std::string(LastPart(row.path)))) {
        Require(row, map, path, place, json);
      }
    }
    return json;
  }

 private:
  using MaybeJson = std::optional<Json>;

  std::string HintFor(std::string_view key, const std::string& path,
                      const std::string& prefix) const {
    const std::string_view advice = format_.advice == nullptr ? "" : format_.advice(key);
    return advice.empty() ? HintAmong(format_.rows, prefix, path, key) : std::string(advice);
  }

  MaybeJson CheckKey(Value& value, const std::string& path, const KeyRow& row) {
    if (row.empty_is_none && IsEmptyText(value)) value.kind = Value::Kind::kNull;
    if (value.kind == Value::Kind::kBroken || value.is_null()) return std::nullopt;
    const bool nothing = AsksForNothing(value);
    if (IsEnvironment(path) && path != env_type_) {
      if (nothing) return std::nullopt;
      out_.Warn(value.key_pos, path + " is not used: job.env_type is " + env_type_,
                "write job.env_type: " + path + " to use it, or leave it out");
      return std::nullopt;
    }
    if (nothing && (row.status == KeyStatus::kNotYet || row.type == Type::kMap)) {
      return std::nullopt;
    }
    if (row.status == KeyStatus::kNotYet) {
      return Refuse(value, value.key_pos, path, "leave " + path + " out");
    }
    if (path == "tpu.zone" && value.is_list()) {
      return Refuse(value, value.pos, "tpu.zone: a list of zones", "write one zone");
    }
    if (row.or_one && !value.is_list()) Wrap(value, Value::Kind::kList, "");
    switch (row.type) {
      case Type::kMap:
        return CheckItem(value, path, row);
      case Type::kNamed:
        return value.is_map() ? CheckNamed(value, path, row) : Expected(value, path, TypeText(row));
      case Type::kMaps:
        return value.is_list() ? CheckMaps(value, path, row) : Expected(value, path, TypeText(row));
      case Type::kTextList:
        return value.is_list() ? CheckList(value, path, row) : Expected(value, path, TypeText(row));
      case Type::kTextMap:
        return value.is_map() ? CheckTexts(value, path, row) : Expected(value, path, TypeText(row));
      case Type::kSource:
        return CheckSource(value, path, row);
      case Type::kTextOrSource:
        return value.is_map() ? CheckSource(value, path, row) : CheckScalar(value, path, row);
      case Type::kAny:
        return Json();
      case Type::kText:
      case Type::kPath:
      case Type::kWord:
      case Type::kBool:
      case Type::kNumber:
      case Type::kSize:
      case Type::kCount:
      case Type::kDuration:
      case Type::kLimit:
      case Type::kDeadline:
      case Type::kHosts:
        return CheckScalar(value, path, row);
    }
    return std::nullopt;
  }

  /// A map, or its short form.
  MaybeJson CheckItem(Value& value, const std::string& path, const KeyRow& row) {
    if (!row.short_for.empty() && value.is_scalar()) {
      const bool posts = row.short_for == "run" && IsUrl(value.text);
      Wrap(value, Value::Kind::kMap, posts ? "post" : row.short_for);
    }
    if (!value.is_map()) return Expected(value, path, ItemText(row));
    return CheckMap(value, path, ChildPrefix(row), PlaceOf(value));
  }

  /// A map whose keys are names of the user's; each value is a map of known keys.
  MaybeJson CheckNamed(Value& map, const std::string& path, const KeyRow& row) {
    Json json = Json::object();
    for (Value& child : map.children) {
      const bool skipped = child.kind == Value::Kind::kBroken || child.is_null();
      auto named = skipped ? std::nullopt : CheckItem(child, Below(path, child.key), row);
      if (named) json[child.key] = std::move(*named);
    }
    return json;
  }

  MaybeJson CheckMaps(Value& list, const std::string& path, const KeyRow& row) {
    Json json = Json::array();
    for (std::size_t i = 0; i < list.children.size(); ++i) {
      Value& item = list.children[i];
      const bool broken = item.kind == Value::Kind::kBroken;
      auto map = broken ? std::nullopt : CheckItem(item, ItemPath(path, item, i), row);
      json.push_back(map.value_or(Json::object()));  // keeps the indices right
    }
    return json;
  }

  MaybeJson CheckList(Value& list, const std::string& path, const KeyRow& row) {
    Json json = Json::array();
    for (std::size_t i = 0; i < list.children.size(); ++i) {
      Value& item = list.children[i];
      const std::string item_path = ItemPath(path, item, i);
      if (item.kind != Value::Kind::kBroken && !item.is_scalar())
        Expected(item, item_path, "text", row.example.empty() ? "" : ExampleOf(row));
      if (item.is_scalar()) Accept(item, item_path, format_.form(row.path, item.text));
      if (item.kind == Value::Kind::kBroken) list.kind = Value::Kind::kBroken;
      json.push_back(item.text);
    }
    return list.is_list() ? MaybeJson(json) : std::nullopt;
  }

  MaybeJson CheckTexts(Value& map, const std::string& path, const KeyRow& row) {
    Json json = Json::object();
    for (Value& child : map.children) {
      if (child.kind == Value::Kind::kBroken || child.is_null()) continue;
      const std::string child_path = Below(path, child.key);
      if (!child.is_scalar()) {
        Expected(child, child_path, "text");
        continue;
      }
      const base::Status named = format_.member(row.path, child.key, child.text);
      if (!named.ok()) Report(child.key_pos, path, named.error());
      if (Accept(child, child_path, format_.form(row.path, child.text)))
        json[child.key] = child.text;
    }
    return json;
  }

  /// {env: NAME} or {file: PATH}, never the secret itself.
  MaybeJson CheckSource(Value& value, const std::string& path, const KeyRow& row) {
    Value* from = value.is_map() && value.children.size() == 1 ? &value.children[0] : nullptr;
    if (from != nullptr && from->kind == Value::Kind::kBroken) return std::nullopt;
    if (from == nullptr || (from->key != "env" && from->key != "file") || !from->is_scalar()) {
      return Break(value, value.pos, path + ": expected " + TypeText(row),
                   "a job file never contains secrets; write it to a file, and name that here: " +
                       ExampleOfSource(row));
    }
    if (from->key == "file") return Json{{"file", PathOf(*from)}};
    if (!Accept(value, path, CheckVariableName(from->text))) return std::nullopt;
    return Json{{"env", from->text}};
  }

  MaybeJson CheckScalar(Value& value, const std::string& path, const KeyRow& row) {
    if (!value.is_scalar() && !(row.type == Type::kHosts && value.is_list())) {
      return Expected(value, path, TypeText(row));
    }
    if (!row.example.empty() && base::Trim(value.text).empty()) {
      return Break(value, value.pos, path + " is empty", ExampleOf(row));
    }
    if (row.type == Type::kPath) {
      if (!Accept(value, path, format_.form(row.path, value.text))) return std::nullopt;
      return PathOf(value);
    }
    const auto json = ReadScalar(value, row);
    if (!Accept(value, path, json.ok() ? format_.form(row.path, value.text) : json.error())) {
      return std::nullopt;
    }
    return *json;
  }

  /// Reports a required key if the map lacks it.
  void Require(const KeyRow& row, const Value& map, const std::string& path, Position place,
               Json& json) {
    const std::string key(LastPart(row.path));
    const Value* given = map.Find(key);
    if (given != nullptr && !AsksForNothing(*given)) return;
    const Position here = given == nullptr ? place : given->key_pos;
    if (row.type == Type::kMap) {
      Value none;
      json[key] = CheckMap(none, Below(path, key), ChildPrefix(row), here);
    } else {
      out_.Report(here, Below(path, key) + " is missing", ExampleOf(row));
    }
  }

  static std::string ItemPath(const std::string& path, const Value& item, std::size_t index) {
    return item.implied ? path : path + "[" + std::to_string(index) + "]";
  }

  std::string PathOf(const Value& value) {
    const bool known = value.pos.source >= 0;
    return ResolvePath(defaults_, known ? out_.source(value.pos.source).folder : "", value.text);
  }

  void Report(Position at, const std::string& path, const base::Error& error) {
    out_.Report(at, path + ": " + error.message, error.hint, error.reason);
  }

  /// Returns whether the status is OK; if not, reports it and marks the value broken.
  bool Accept(Value& value, const std::string& path, const base::Status& status) {
    if (status.ok()) return true;
    Report(value.pos, path, status.error());
    value.kind = Value::Kind::kBroken;
    return false;
  }

  MaybeJson Break(Value& value, Position at, std::string message, std::string hint,
                  base::Reason reason = base::Reason::kNone) {
    out_.Report(at, std::move(message), std::move(hint), reason);
    value.kind = Value::Kind::kBroken;
    return std::nullopt;
  }

  MaybeJson Refuse(Value& value, Position at, const std::string& what, std::string hint) {
    return Break(value, at, what + " is not supported yet", std::move(hint),
                 base::Reason::kNotSupported);
  }

  MaybeJson Expected(Value& value, const std::string& path, const std::string& type,
                     std::string hint = {}) {
    const std::string found(KindText(value));
    return Break(value, value.pos, path + ": expected " + type + ", found " + found,
                 std::move(hint));
  }

  const Format& format_;
  std::string env_type_;
  const Defaults& defaults_;
  Diagnostics& out_;
};

}  // namespace

bool IsUnusedSection(const Value& root, std::string_view section) {
  return IsEnvironment(section) && section != EnvTypeOf(root);
}

std::string NearestKeyHint(std::string_view prefix, std::string_view shown, std::string_view key) {
  return HintAmong(Schema(), prefix, shown, key);
}

base::Json CheckMap(Value& map, const Format& format, const MapPlace& where,
                    const Defaults& defaults, Diagnostics& out) {
  Checker checker(format, EnvTypeOf(map), defaults, out);
  return checker.CheckMap(map, where.path, where.prefix, where.place);
}

base::Json CheckAgainstSchema(Value& root, const Defaults& defaults, Diagnostics& out) {
  const Format job_file{.rows = Schema(), .form = &CheckForm, .member = &CheckMember};
  return CheckMap(root, job_file, {.place = {.source = 0}}, defaults, out);
}

}  // namespace jobman::config
