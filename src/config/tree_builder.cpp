#include "config/tree_builder.hpp"

#include <utility>

namespace jobman::config {
namespace {

struct Size {
  std::size_t values = 0;
  std::size_t bytes = 0;
};

void Measure(const Value& value, Size& size) {
  ++size.values;
  size.bytes += value.text.size() + value.key.size();
  for (const Value& child : value.children) Measure(child, size);
}

int Depth(const Value& value) {
  int deepest = 0;
  for (const Value& child : value.children) deepest = std::max(deepest, Depth(child));
  return deepest + 1;
}

}  // namespace

Position TreeBuilder::At(const YAML::Mark& mark) const {
  if (mark.is_null()) return {.source = source_};
  const int column = mark.column + 1 + (mark.line == 0 ? offset_ : 0);
  return {.source = source_, .line = mark.line + 1, .column = column};
}

std::optional<Value> TreeBuilder::TakeRoot() {
  return failed_ ? std::nullopt : std::move(root_);
}

void TreeBuilder::Fail(Position at, std::string message, std::string hint) {
  if (failed_) return;
  failed_ = true;
  out_.Report(at, std::move(message), std::move(hint));
}

void TreeBuilder::OnDocumentStart(const YAML::Mark& mark) {
  if (root_) Fail(At(mark), "a second document begins here", std::string(limits_.one));
}

void TreeBuilder::OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) {
  Value value;
  value.pos = At(mark);
  Finish(std::move(value), anchor);
}

void TreeBuilder::OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                           const std::string& text) {
  if (text.find('\0') != std::string::npos) {
    return Fail(At(mark), "this text contains a NUL byte, which no shell and no file name can hold",
                "remove \\0");
  }
  Value value = Scalar(text, At(mark));
  value.progress = Value::Progress::kRaw;
  // "?" is a plain scalar, "!" a quoted one; explicit tags may force text.
  value.quoted = tag == "!" || tag == "tag:yaml.org,2002:str";
  Finish(std::move(value), anchor);
}

void TreeBuilder::OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) {
  if (failed_) return;
  const auto found = anchors_.find(anchor);
  if (found == anchors_.end()) {
    return Fail(At(mark), "this alias refers to a value that contains it");
  }
  if (static_cast<int>(open_.size()) + Depth(found->second) > kDeepest) {
    return Fail(At(mark), "lists and maps are nested too deeply");
  }
  if (Spend(found->second, At(mark))) Place(found->second);
}

void TreeBuilder::OnSequenceStart(const YAML::Mark& mark, const std::string& /*tag*/,
                                  YAML::anchor_t anchor, YAML::EmitterStyle::value /*style*/) {
  OpenContainer(Value::Kind::kList, mark, anchor);
}

void TreeBuilder::OnMapStart(const YAML::Mark& mark, const std::string& /*tag*/,
                             YAML::anchor_t anchor, YAML::EmitterStyle::value /*style*/) {
  OpenContainer(Value::Kind::kMap, mark, anchor);
}

void TreeBuilder::OpenContainer(Value::Kind kind, const YAML::Mark& mark, YAML::anchor_t anchor) {
  if (failed_) return;
  if (open_.size() >= static_cast<std::size_t>(kDeepest)) {
    return Fail(At(mark), "lists and maps are nested too deeply");
  }
  Open container;
  container.value.kind = kind;
  container.value.pos = At(mark);
  container.anchor = anchor;
  open_.push_back(std::move(container));
}

void TreeBuilder::Close() {
  if (failed_ || open_.empty()) return;
  Open container = std::move(open_.back());
  open_.pop_back();
  MergeInto(container);
  Finish(std::move(container.value), container.anchor);
}

void TreeBuilder::Finish(Value value, YAML::anchor_t anchor) {
  if (failed_) return;
  // The children of a container have been counted already.
  Value alone;
  alone.text = value.text;
  if (!Spend(alone, value.pos)) return;
  if (anchor != 0) anchors_[anchor] = value;
  Place(std::move(value));
}

bool TreeBuilder::Spend(const Value& value, Position at) {
  Size size{.values = values_, .bytes = bytes_};
  Measure(value, size);
  values_ = size.values;
  bytes_ = size.bytes;
  const bool small = values_ <= limits_.values && bytes_ <= 4 * limits_.bytes;
  if (small) return true;
  Fail(at, "the file is too large once its aliases are expanded");
  return false;
}

void TreeBuilder::Place(Value value) {
  if (open_.empty()) {
    root_ = std::move(value);
  } else if (open_.back().value.is_list()) {
    open_.back().value.children.push_back(std::move(value));
  } else {
    PlaceMember(open_.back(), std::move(value));
  }
}

void TreeBuilder::PlaceMember(Open& map, Value value) {
  if (!map.key) {
    map.key = std::move(value);
    return;
  }
  const Value key = *std::exchange(map.key, std::nullopt);
  if (!key.is_scalar()) {
    return Fail(key.pos, "a key must be text, not " + std::string(KindText(key)));
  }
  if (key.text == "<<" && !key.quoted) {
    map.merged.push_back(std::move(value));
    return;
  }
  if (const Value* first = map.value.Find(key.text)) {
    const Position there = first->key_pos;
    out_.Report(key.pos, "duplicate key \"" + key.text + "\"",
                "it is first used in line " + std::to_string(there.line));
    return;
  }
  if (!HasRoom(map, key.pos)) return;
  value.key = key.text;
  value.key_pos = key.pos;
  map.value.children.push_back(std::move(value));
}

bool TreeBuilder::HasRoom(const Open& map, Position at) {
  if (map.value.children.size() < limits_.keys) return true;
  Fail(at, "too many keys in one map; the limit is " + std::to_string(limits_.keys));
  return false;
}

void TreeBuilder::MergeInto(Open& map) {
  for (const Value& merged : map.merged) {
    const std::vector<Value> single = {merged};
    for (const Value& part : merged.is_list() ? merged.children : single) {
      if (!part.is_map()) return Fail(part.pos, "\"<<\" takes a map, or a list of maps");
      for (const Value& member : part.children) {
        if (map.value.Find(member.key) != nullptr) continue;
        if (!HasRoom(map, part.pos)) return;
        map.value.children.push_back(member);
      }
    }
  }
}

}  // namespace jobman::config
