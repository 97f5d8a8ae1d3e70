#include "config/value.hpp"

#include <algorithm>
#include <utility>

#include "jobman/base/strings.hpp"

namespace jobman::config {
namespace {

bool AllDigits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

const Value* Child(const Value& value, const std::string& part) {
  if (value.is_map()) return value.Find(part);
  if (!value.is_list()) return nullptr;
  const auto index = base::ParseNumber(part);
  if (!index || static_cast<std::size_t>(*index) >= value.children.size()) return nullptr;
  return &value.children[static_cast<std::size_t>(*index)];
}

}  // namespace

const Value* Value::Find(std::string_view name) const {
  if (!is_map()) return nullptr;
  const auto found = std::find_if(children.begin(), children.end(),
                                  [&](const Value& child) { return child.key == name; });
  return found == children.end() ? nullptr : &*found;
}

Value* Value::Find(std::string_view name) {
  return const_cast<Value*>(std::as_const(*this).Find(name));
}

Value Scalar(std::string text, Position pos) {
  Value value;
  value.kind = Value::Kind::kScalar;
  value.progress = Value::Progress::kDone;
  value.pos = pos;
  value.text = std::move(text);
  return value;
}

std::string_view KindText(const Value& value) {
  switch (value.kind) {
    case Value::Kind::kNull:
      return "nothing";
    case Value::Kind::kList:
      return "a list";
    case Value::Kind::kMap:
      return "a map";
    case Value::Kind::kBroken:
      return "a broken value";
    case Value::Kind::kScalar:
      break;
  }
  if (IsBoolText(value)) return "true or false";
  return IsNumberText(value) ? "a number" : "text";
}

bool IsTrueText(std::string_view text) {
  const std::string lower = base::ToLower(text);
  return lower == "true" || lower == "yes" || lower == "on";
}

bool IsBoolText(const Value& value) {
  if (!value.is_scalar() || value.quoted) return false;
  const std::string lower = base::ToLower(value.text);
  return IsTrueText(lower) || lower == "false" || lower == "no" || lower == "off";
}

bool IsNumberText(const Value& value) {
  if (!value.is_scalar() || value.quoted || value.text.empty()) return false;
  std::string_view text = value.text;
  if (text.front() == '-' || text.front() == '+') text.remove_prefix(1);
  const std::size_t dot = text.find('.');
  if (dot == std::string_view::npos) return AllDigits(text);
  const std::string_view whole = text.substr(0, dot);
  const std::string_view rest = text.substr(dot + 1);
  return (AllDigits(whole) || whole.empty()) && (AllDigits(rest) || rest.empty()) &&
         text.size() > 1;
}

std::vector<std::string> SplitPath(std::string_view path) {
  std::vector<std::string> parts(1);
  for (const char c : path) {
    if (c == '.' || c == '[') {
      parts.emplace_back();
    } else if (c != ']') {
      parts.back() += c;
    }
  }
  // "[0]" at the very start opens an empty part before it.
  if (parts.size() > 1 && parts.front().empty()) parts.erase(parts.begin());
  return parts;
}

std::string JoinPath(const std::vector<std::string>& parts) {
  std::string path;
  for (const std::string& part : parts) {
    if (AllDigits(part)) {
      path += "[" + part + "]";
    } else {
      path += (path.empty() ? "" : ".") + part;
    }
  }
  return path;
}

const Value* FindAt(const Value& root, const std::vector<std::string>& parts) {
  const Value* value = &root;
  for (const std::string& part : parts) {
    if (value != nullptr) value = Child(*value, part);
  }
  return value;
}

}  // namespace jobman::config
