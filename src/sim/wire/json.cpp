#include "sim/wire/json.hpp"

#include <charconv>

#include "jobman/base/json.hpp"

namespace jobman::sim {

std::optional<Json> ParseJson(std::string_view text) {
  base::Result<Json> parsed = base::ParseJson(text);
  if (!parsed.ok()) return std::nullopt;
  return std::move(parsed).value();
}

std::optional<Json> ParseObject(std::string_view text) {
  auto parsed = ParseJson(text);
  return parsed && parsed->is_object() ? parsed : std::nullopt;
}

const Json& Member(const Json& object, std::string_view key) {
  static const Json kNull;
  if (!object.is_object()) return kNull;
  const auto found = object.find(std::string(key));
  return found == object.end() ? kNull : *found;
}

std::string Text(const Json& object, std::string_view key) {
  const Json& value = Member(object, key);
  return value.is_string() ? value.get<std::string>() : std::string();
}

bool Flag(const Json& object, std::string_view key) {
  const Json& value = Member(object, key);
  return value.is_boolean() && value.get<bool>();
}

std::int64_t Number(const Json& object, std::string_view key) {
  const Json& value = Member(object, key);
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (!value.is_string()) return 0;
  const std::string text = value.get<std::string>();
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

namespace {

bool IsDefault(const Json& value) {
  if (value.is_null()) return true;
  if (value.is_boolean()) return !value.get<bool>();
  if (value.is_number()) return value.get<double>() == 0;
  if (value.is_string()) return value.get_ref<const std::string&>().empty();
  return value.is_array() && value.empty();
}

bool IsMap(const std::string& key) {
  return key == "labels" || key == "metadata";
}

}  // namespace

Json WithoutDefaults(Json value) {
  if (value.is_array()) {
    for (Json& item : value) item = WithoutDefaults(std::move(item));
    return value;
  }
  if (!value.is_object()) return value;
  for (auto it = value.begin(); it != value.end();) {
    if (IsDefault(it.value()) || (IsMap(it.key()) && it.value().empty())) {
      it = value.erase(it);
      continue;
    }
    if (!IsMap(it.key())) it.value() = WithoutDefaults(std::move(it.value()));
    ++it;
  }
  return value;
}

std::string Timestamp(TimePoint time) {
  std::string text = base::FormatRfc3339(time);
  text.insert(text.size() - 1, "000000");
  return text;
}

}  // namespace jobman::sim
