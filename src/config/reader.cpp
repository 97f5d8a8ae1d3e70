#include "config/reader.hpp"

#include "config/scalars.hpp"
#include "jobman/base/strings.hpp"

namespace jobman::config {

std::optional<std::string> Reader::Env(const std::string& name) const {
  return defaults().env ? defaults().env(name) : std::nullopt;
}

const Value* Reader::Get(std::string_view path) const {
  const Value* value = FindAt(root_, SplitPath(path));
  const bool absent = value == nullptr || value->is_null() || value->kind == Value::Kind::kBroken;
  return absent ? nullptr : value;
}

std::string Reader::Text(std::string_view path) const {
  const Value* value = Get(path);
  return value != nullptr && value->is_scalar() ? value->text : std::string();
}

std::optional<bool> Reader::Bool(std::string_view path) const {
  const Value* value = Get(path);
  const auto flag = value == nullptr ? base::Result<bool>(base::Error{}) : ReadBool(*value);
  return flag.ok() ? std::optional(*flag) : std::nullopt;
}

std::optional<int> Reader::Number(std::string_view path) const {
  const Value* value = Get(path);
  const auto number = value == nullptr ? base::Result<int>(base::Error{}) : ReadNumber(*value);
  return number.ok() ? std::optional(*number) : std::nullopt;
}

std::optional<std::optional<int>> Reader::Count(std::string_view path) const {
  const Value* value = Get(path);
  if (value == nullptr) return std::nullopt;
  const auto count = ReadCount(*value);
  return count.ok() ? std::optional(*count) : std::nullopt;
}

std::optional<base::Duration> Reader::Duration(std::string_view path) const {
  const Value* value = Get(path);
  if (value == nullptr) return std::nullopt;
  const auto duration = ReadDuration(*value);
  return duration.ok() ? std::optional(*duration) : std::nullopt;
}

core::HostSet Reader::Hosts(std::string_view path) const {
  const Value* value = Get(path);
  return value == nullptr ? core::HostSet{} : ReadHosts(*value).value_or(core::HostSet{});
}

std::map<std::string, std::string> Reader::TextMap(std::string_view path) const {
  std::map<std::string, std::string> map;
  const Value* value = Get(path);
  for (const Value& child : value == nullptr ? std::vector<Value>{} : value->children) {
    if (child.is_scalar()) map[child.key] = child.text;
  }
  return map;
}

std::vector<std::string> Reader::TextList(std::string_view path) const {
  std::vector<std::string> list;
  const Value* value = Get(path);
  for (const Value& child : value == nullptr ? std::vector<Value>{} : value->children) {
    if (child.is_scalar()) list.push_back(child.text);
  }
  return list;
}

std::size_t Reader::Length(std::string_view path) const {
  const Value* value = Get(path);
  return value != nullptr && value->is_list() ? value->children.size() : 0;
}

std::string Reader::Required(std::string_view path, std::string_view example) {
  std::string text = Text(path);
  if (!base::Trim(text).empty() || IsBroken(path)) return text;
  Complain(path, std::string(path) + (Has(path) ? " is empty" : " is missing"),
           "write it like " + std::string(example));
  return {};
}

base::Path Reader::ResolvePath(std::string_view path, const std::string& text) const {
  if (text == "~") return defaults().home;
  if (text.starts_with("~/")) return defaults().home / text.substr(2);
  // An absolute path replaces the folder before it.
  return FolderOf(path) / text;
}

base::Path Reader::FolderOf(std::string_view path) const {
  const Value* value = Get(path);
  return value == nullptr || value->pos.source < 0 ? base::Path{}
                                                   : out_.source(value->pos.source).folder;
}

void Reader::Complain(std::string_view path, std::string message, std::string hint,
                      base::Reason reason) {
  out_.Report(At(path), std::move(message), std::move(hint), reason);
}

void Reader::Complain(std::string_view path, const base::Status& status) {
  if (status.ok() || IsBroken(path)) return;
  const base::Error& error = status.error();
  Complain(path, std::string(path) + ": " + error.message, error.hint, error.reason);
}

void Reader::ComplainOfKey(std::string_view map_path, std::string_view key,
                           const base::Status& status) {
  if (status.ok()) return;
  const Value* map = Get(map_path);
  const Value* member = map == nullptr ? nullptr : map->Find(key);
  const Position at = member == nullptr ? At(map_path) : member->key_pos;
  out_.Report(at, std::string(map_path) + ": " + status.error().message, status.error().hint,
              status.error().reason);
}

bool Reader::IsBroken(std::string_view path) const {
  std::vector<std::string> parts;
  for (std::string& part : SplitPath(path)) {
    parts.push_back(std::move(part));
    const Value* value = FindAt(root_, parts);
    if (value == nullptr) return false;
    if (value->kind == Value::Kind::kBroken) return true;
  }
  return false;
}

Position Reader::At(std::string_view path) const {
  std::vector<std::string> parts = SplitPath(path);
  if (const Value* value = FindAt(root_, parts)) {
    return value->is_null() || value->pos.line == 0 ? value->key_pos : value->pos;
  }
  while (parts.size() > 1) {
    parts.pop_back();
    const Value* value = FindAt(root_, parts);
    if (value == nullptr) continue;
    return value->key_pos.line > 0 ? value->key_pos : value->pos;
  }
  return {.source = 0};
}

}  // namespace jobman::config
