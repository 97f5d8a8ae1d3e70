#include "sim/schema/body_reader.hpp"

#include <fmt/format.h>

#include <map>
#include <set>

#include "sim/schema/api_schema.hpp"
#include "sim/schema/scalars.hpp"

namespace jobman::sim {

namespace {

using Shape = SchemaField::Shape;

constexpr const char* kNoSuchField = "Cannot find field.";

class BodyReader {
 public:
  BodyReader(const std::string& version, Violations& violations)
      : version_(version), violations_(violations) {}

  Json ReadMessage(const std::string& type, const Json& object, const std::string& at);

 private:
  void ReadField(const SchemaField& field, const Json& value, const std::string& at, Json& into);
  Json ReadList(const SchemaField& field, const Json& value, const std::string& at);
  Json ReadMap(const SchemaField& field, const Json& value, const std::string& at);
  /// Null if it is not of the type.
  Json ReadOne(const std::string& type, const Json& value, const std::string& at);
  Json ReadEnum(const std::string& type, const Json& value, const std::string& at);
  std::string TypeName(const std::string& type) const;
  Json Refuse(const std::string& at, const std::string& type, const Json& value);

  const std::string& version_;
  Violations& violations_;
};

std::string BodyReader::TypeName(const std::string& type) const {
  const std::string scalar = ScalarName(type);
  return scalar.empty() ? "type.googleapis.com/" + ApiSchema::Get().FullName(type, version_)
                        : scalar;
}

Json BodyReader::Refuse(const std::string& at, const std::string& type, const Json& value) {
  violations_.push_back(InvalidValue(at, TypeName(type), value.dump()));
  return {};
}

Json BodyReader::ReadMessage(const std::string& type, const Json& object, const std::string& at) {
  const SchemaMessage& message = *ApiSchema::Get().Message(type);
  Json read = Json::object();
  std::set<std::string> seen;
  std::map<std::string, std::string> groups;  // to the field that is set
  for (const auto& [name, value] : object.items()) {
    const SchemaField* field = FindField(message, name);
    if (field == nullptr || !IsIn(field->versions, version_)) {
      violations_.push_back(UnknownName(name, at, kNoSuchField));
      continue;
    }
    if (!seen.insert(field->name).second) {
      violations_.push_back(UnknownName(name, at, "Name is given twice."));
    }
    if (value.is_null()) continue;
    if (!field->group.empty() && !groups.emplace(field->group, field->name).second) {
      violations_.push_back(
          {at, fmt::format("Invalid value at '{}' (oneof), oneof field '{}' is already set. "
                           "Cannot set '{}'",
                           at, field->group, field->name)});
      continue;
    }
    ReadField(*field, value, at.empty() ? field->original : at + "." + field->original, read);
  }
  return read;
}

void BodyReader::ReadField(const SchemaField& field, const Json& value, const std::string& at,
                           Json& into) {
  Json read;
  if (field.shape == Shape::kList) {
    read = ReadList(field, value, at);
  } else if (field.shape == Shape::kMap) {
    read = ReadMap(field, value, at);
  } else if (value.is_array() && field.type != "any") {
    violations_.push_back(
        UnknownName(field.name, at, "Proto field is not repeating, cannot start list."));
  } else {
    read = ReadOne(field.type, value, at);
  }
  if (!read.is_null() && !field.output_only) into[field.name] = std::move(read);
}

Json BodyReader::ReadList(const SchemaField& field, const Json& value, const std::string& at) {
  if (!value.is_array()) return Refuse(at, field.type, value);
  Json list = Json::array();
  for (std::size_t i = 0; i < value.size(); ++i) {
    Json item = ReadOne(field.type, value[i], fmt::format("{}[{}]", at, i));
    if (!item.is_null()) list.push_back(std::move(item));
  }
  return list;
}

Json BodyReader::ReadMap(const SchemaField& field, const Json& value, const std::string& at) {
  if (!value.is_object()) return Refuse(at, field.type, value);
  Json map = Json::object();
  int index = 0;
  for (const auto& [key, entry] : value.items()) {
    Json read = ReadOne(field.type, entry, fmt::format("{}[{}].value", at, index++));
    if (!read.is_null()) map[key] = std::move(read);
  }
  return map;
}

Json BodyReader::ReadOne(const std::string& type, const Json& value, const std::string& at) {
  const ApiSchema& schema = ApiSchema::Get();
  if (schema.Enum(type) != nullptr) return ReadEnum(type, value, at);
  if (schema.Message(type) != nullptr) {
    return value.is_object() ? ReadMessage(type, value, at) : Refuse(at, type, value);
  }
  const auto read = ReadScalar(type, value);
  return read ? *read : Refuse(at, type, value);
}

Json BodyReader::ReadEnum(const std::string& type, const Json& value, const std::string& at) {
  for (const SchemaValue& known : *ApiSchema::Get().Enum(type)) {
    if (!IsIn(known.versions, version_)) continue;
    const bool named = value.is_string() && value.get_ref<const std::string&>() == known.name;
    const bool numbered = value.is_number_integer() && value.get<std::int64_t>() == known.number;
    if (named || numbered) return known.name;
  }
  return Refuse(at, type, value);
}

}  // namespace

std::optional<Json> ParseOnce(const std::string& text, Violations& violations) {
  if (!ParseJson(text)) return std::nullopt;  // its depth is bounded
  std::vector<std::set<std::string>> names;
  const auto note = [&](int, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::object_start) names.emplace_back();
    if (event == Json::parse_event_t::object_end) names.pop_back();
    if (event == Json::parse_event_t::key &&
        !names.back().insert(parsed.get<std::string>()).second) {
      violations.push_back(UnknownName(parsed.get<std::string>(), "", "Name is given twice."));
    }
    return true;
  };
  Json parsed = Json::parse(text, note, /*allow_exceptions=*/false);
  if (parsed.is_discarded()) return std::nullopt;
  return parsed;
}

Json ReadMessage(const std::string& type, const std::string& version, const Json& object,
                 const std::string& at, Violations& violations) {
  return BodyReader(version, violations).ReadMessage(type, object, at);
}

}  // namespace jobman::sim
