#include "config/convert/draft.hpp"

#include <utility>

#include "config/value.hpp"
#include "config/yaml_writer.hpp"
#include "jobman/base/clean.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/config/schema.hpp"

namespace jobman::config::convert {
namespace {

using base::OrderedJson;

/// The value at a path, made if it is absent.
OrderedJson& Enter(OrderedJson& root, std::string_view path) {
  OrderedJson* place = &root;
  for (const std::string& part : base::Split(path, '.')) place = &(*place)[part];
  return *place;
}

const OrderedJson* Find(const OrderedJson& root, std::string_view path) {
  const OrderedJson* place = &root;
  for (const std::string& part : base::Split(path, '.')) {
    const auto found = place->is_object() ? place->find(part) : place->end();
    if (found == place->end()) return nullptr;
    place = &*found;
  }
  return place;
}

OrderedJson Escaped(OrderedJson value) {
  EscapeTexts(value);
  return value;
}

/// Adds the comments of the values below `json`, in the order in which WriteYaml() writes them.
void CollectNotes(const OrderedJson& json, const std::string& path,
                  const std::map<std::string, std::string>& comments,
                  std::vector<std::string>& notes) {
  if (!json.is_structured()) {
    const auto found = comments.find(path);
    notes.push_back(found == comments.end() ? "" : found->second);
    return;
  }
  std::size_t index = 0;
  for (const auto& item : json.items()) {
    const std::string part = json.is_array() ? std::to_string(index) : item.key();
    CollectNotes(item.value(), path.empty() ? part : path + "." + part, comments, notes);
    ++index;
  }
}

/// The sections in the order in which the schema has them.
OrderedJson InOrder(const OrderedJson& root) {
  OrderedJson ordered = OrderedJson::object();
  for (const KeyRow& row : Schema()) {
    const std::string name(row.path);
    if (!base::Contains(name, ".") && root.contains(name)) ordered[name] = root[name];
  }
  return ordered;
}

}  // namespace

void Draft::Set(std::string_view path, OrderedJson value, std::string_view comment) {
  Enter(root_, path) = Escaped(std::move(value));
  Comment(path, comment);
}

void Draft::SetExpression(std::string_view path, std::string text, std::string_view comment) {
  Enter(root_, path) = std::move(text);
  Comment(path, comment);
}

void Draft::SetMember(std::string_view map, const std::string& key, OrderedJson value) {
  Enter(root_, map)[key] = Escaped(std::move(value));
}

void Draft::SetMemberExpression(std::string_view map, const std::string& key, std::string text) {
  Enter(root_, map)[key] = std::move(text);
}

void Draft::Append(std::string_view list, OrderedJson value) {
  Enter(root_, list).push_back(Escaped(std::move(value)));
}

void Draft::Comment(std::string_view path, std::string_view comment) {
  if (!comment.empty()) comments_[std::string(path)] = base::CleanLine(comment);
}

bool Draft::Has(std::string_view path) const {
  return Find(root_, path) != nullptr;
}

void Draft::MakeAbsolute(std::string_view path, const base::Path& folder) {
  if (!Has(path)) return;
  OrderedJson& value = Enter(root_, path);
  const auto* const text = value.get_ptr<const std::string*>();
  if (text == nullptr || text->starts_with('~')) return;
  value = (folder / *text).lexically_normal().string();
}

std::string Draft::Text() const {
  std::string text;
  for (const std::string& line : head_) text += "# " + base::CleanLine(line) + "\n";
  const OrderedJson ordered = InOrder(root_);
  std::vector<std::string> notes;
  CollectNotes(ordered, "", comments_, notes);
  return text + WriteYaml(ordered, notes);
}

}  // namespace jobman::config::convert
