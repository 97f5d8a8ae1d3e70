#include "config/merge.hpp"

#include <cctype>
#include <utility>

#include "config/yaml_reader.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/config/schema.hpp"

namespace jobman::config {
namespace {

Value EmptyMap(const Value& like) {
  Value map;
  map.kind = Value::Kind::kMap;
  map.pos = like.pos;
  return map;
}

/// The child named `part`, created if absent; nullptr if there can be none.
Value* Enter(Value& parent, const std::string& part, const Value& value) {
  if (parent.is_null()) parent.kind = Value::Kind::kMap;
  if (parent.is_map()) {
    if (Value* child = parent.Find(part)) return child;
    Value child;
    child.key = part;
    child.key_pos = value.key_pos;
    parent.children.push_back(std::move(child));
    return &parent.children.back();
  }
  const auto index = base::ParseNumber(part);
  if (!parent.is_list() || !index) return nullptr;
  const auto at = static_cast<std::size_t>(*index);
  if (at == parent.children.size()) parent.children.push_back(EmptyMap(value));
  return at < parent.children.size() ? &parent.children[at] : nullptr;
}

/// In the letters of a slice's name. What is still to be interpolated is checked when it is known.
std::string SliceSuffix(const std::string& suffix) {
  if (base::Contains(suffix, "${")) return suffix;
  std::string text = base::ToLower(suffix);
  for (char& c : text)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '-';
  return text;
}

/// Whether a value at this path is text. Then a shell's word is the value: as YAML it would lose
/// line breaks, and what follows " #".
bool IsText(std::string_view path, std::string_view text) {
  std::vector<std::string> parts = SplitPath(path);
  const KeyRow* row = FindKey(path);
  const bool holds_texts =
      row != nullptr && (row->type == Type::kTextList || row->type == Type::kTextMap);
  if (holds_texts) return base::ParseNumber(parts.back()).has_value();
  if (row != nullptr) return row->type == Type::kText || row->type == Type::kPath;
  parts.pop_back();
  const KeyRow* const map = FindKey(JoinPath(parts));
  const bool listed = map != nullptr && map->path == "matrix" && text.starts_with('[');
  return map != nullptr && map->type == Type::kTextMap && !listed;
}

/// The value of a flag: where its key and itself are, and whether it may name other values.
struct Given {
  Position key = {};
  Position value = {};
  bool interpolated = true;
};

std::optional<Value> TextOfFlag(std::string_view text, const Given& given, Diagnostics& out) {
  const Position& at = given.value;
  if (text.empty() || !CheckBytes(text, at.source, at.column - 1, out)) return std::nullopt;
  Value value = Scalar(std::string(text), at);
  if (given.interpolated) value.progress = Value::Progress::kRaw;
  value.quoted = true;
  return value;
}

/// Sets what `text` says; an empty one removes the key.
void SetRead(Value& root, std::string_view path, std::string_view text, const Given& given,
             Diagnostics& out) {
  const bool fine = out.ok();
  auto value = IsText(path, text) ? TextOfFlag(text, given, out)
                                  : ReadYaml(text, given.value.source, given.value.column - 1, out);
  if (!value && fine && !out.ok()) return;
  if (!value) value.emplace();
  value->key_pos = given.key;
  if (path == "cloud" && value->is_scalar()) path = "cloud.endpoint";
  SetAt(root, path, std::move(*value), out);
}

}  // namespace

void MergeUnder(Value& top, const Value& under) {
  if (!top.is_map() || !under.is_map()) return;
  for (const Value& member : under.children) {
    if (Value* own = top.Find(member.key)) {
      MergeUnder(*own, member);
    } else {
      top.children.push_back(member);
    }
  }
}

void ExpandCloud(Value& root) {
  Value* cloud = root.Find("cloud");
  if (cloud == nullptr || !cloud->is_scalar()) return;
  Value endpoint = *cloud;
  endpoint.key = "endpoint";
  cloud->kind = Value::Kind::kMap;
  cloud->text.clear();
  cloud->children = {std::move(endpoint)};
}

namespace {

/// A worker of a task queue is one of several, unless its file says which.
void NumberWorkers(Value& root) {
  const Value* const enabled = FindAt(root, {"job", "queue", "enabled"});
  const bool serves = enabled != nullptr && enabled->is_scalar() && IsTrueText(enabled->text);
  if (!serves || FindAt(root, {"job", "worker_num"}) != nullptr) return;
  Value number = Scalar(std::string(kFreeNumber), enabled->pos);
  number.key = "worker_num";
  root.Find("job")->children.push_back(std::move(number));
}

}  // namespace

bool IsSnapshot(const Value& root) {
  const Value* const id = FindAt(root, {"job", "id"});
  return id != nullptr && !id->is_null();
}

void AddSuffix(Value& root) {
  if (IsSnapshot(root)) return;
  NumberWorkers(root);
  const Value* const suffix = FindAt(root, {"job", "worker_num"});
  if (suffix == nullptr || !suffix->is_scalar() || suffix->text == kFreeNumber) return;
  if (base::Trim(suffix->text).empty()) return;
  const auto append = [&](const char* section, const char* key, const std::string& text) {
    Value* const map = root.Find(section);
    Value* const name = map == nullptr || !map->is_map() ? nullptr : map->Find(key);
    // A name made of job.name has the suffix already.
    if (name != nullptr && name->is_scalar() && !base::Contains(name->text, "job.name"))
      name->text += text;
  };
  append("job", "name", "_" + suffix->text);
  append("tpu", "name", "-" + SliceSuffix(suffix->text));
}

void SetAt(Value& root, std::string_view path, Value value, Diagnostics& out) {
  Value* place = &root;
  std::vector<std::string> walked;
  for (const std::string& part : SplitPath(path)) {
    Value* next = Enter(*place, part, value);
    if (next == nullptr) {
      const std::string what = JoinPath(walked) + " is " + std::string(KindText(*place));
      out.Report(value.key_pos, "cannot set " + std::string(path) + ": " + what);
      return;
    }
    walked.push_back(part);
    place = next;
  }
  std::string key = std::move(place->key);
  const Position key_pos = value.key_pos;
  *place = std::move(value);
  place->key = std::move(key);
  place->key_pos = key_pos;
}

void ApplySet(Value& root, std::string_view assignment, int source, Diagnostics& out) {
  const Position begin{.source = source, .line = 1, .column = 1};
  const std::size_t equals = assignment.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    out.Report(begin, "write --set key=value, as in --set tpu.zone=us-central2-b");
    return;
  }
  const std::string_view path = base::Trim(assignment.substr(0, equals));
  const Position at{.source = source, .line = 1, .column = static_cast<int>(equals) + 2};
  SetRead(root, path, assignment.substr(equals + 1), {.key = begin, .value = at}, out);
}

void ApplySetFile(Value& root, std::string_view key, std::string_view content, FileSources sources,
                  Diagnostics& out) {
  const Position at{.source = sources.file, .line = 1, .column = 1};
  SetRead(
      root, base::Trim(key), content,
      {.key = {.source = sources.flag, .line = 1, .column = 1}, .value = at, .interpolated = false},
      out);
}

}  // namespace jobman::config
