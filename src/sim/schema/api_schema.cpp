#include "sim/schema/api_schema.hpp"

#include <algorithm>

#include "jobman/base/strings.hpp"
#include "sim/wire/json.hpp"

namespace jobman::sim {

namespace {

using Shape = SchemaField::Shape;

/// "node_spec" for "nodeSpec".
std::string Original(const std::string& name) {
  std::string original;
  for (const char c : name) {
    if (c >= 'A' && c <= 'Z') original += '_';
    original += base::ToLower(std::string(1, c));
  }
  return original;
}

/// Of "string[] out v2alpha1 |tier".
SchemaField ParseField(const std::string& name, const std::string& text) {
  SchemaField field{.name = name, .original = Original(name)};
  for (const std::string& word : base::Split(text, ' ')) {
    if (word == "out") {
      field.output_only = true;
    } else if (word[0] == '|') {
      field.group = word.substr(1);
    } else if (word[0] == 'v') {
      field.versions.insert(word);
    } else {
      field.type = word;
    }
  }
  const auto take = [&field](const char* suffix, Shape shape) {
    if (!field.type.ends_with(suffix)) return;
    field.type.resize(field.type.size() - 2);
    field.shape = shape;
  };
  take("[]", Shape::kList);
  take("{}", Shape::kMap);
  return field;
}

SchemaMessage ParseFields(const Json& entry) {
  SchemaMessage fields;
  for (const auto& [name, text] : entry.items()) {
    if (name[0] != '@') fields.push_back(ParseField(name, text.get<std::string>()));
  }
  return fields;
}

Versions ParseVersions(const std::string& words) {
  const std::vector<std::string> list = base::Split(words, ' ');
  return {list.begin(), list.end()};
}

/// Of "UNSPECIFIED V2=2 V3/v2": a number is one more than that before, if none is given.
std::vector<SchemaValue> ParseEnum(const std::string& text) {
  std::vector<SchemaValue> values;
  std::int64_t number = 0;
  for (const std::string& word : base::Split(text, ' ')) {
    std::vector<std::string> parts = base::Split(word, '/');
    const std::vector<std::string> pair = base::Split(parts[0], '=');
    if (pair.size() > 1) number = base::ParseNumber(pair[1]).value_or(number);
    values.push_back(
        {.name = pair[0], .number = number, .versions = {parts.begin() + 1, parts.end()}});
    ++number;
  }
  return values;
}

}  // namespace

bool IsIn(const Versions& versions, const std::string& version) {
  return versions.empty() || versions.contains(version);
}

const SchemaField* FindField(const SchemaMessage& message, std::string_view name) {
  const auto found = std::find_if(message.begin(), message.end(), [name](const SchemaField& field) {
    return field.name == name || field.original == name;
  });
  return found == message.end() ? nullptr : &*found;
}

ApiSchema::ApiSchema() {
  const Json json = Json::parse(ApiSchemaText());
  for (const auto& [name, entry] : json["messages"].items()) {
    messages_[name] = ParseFields(entry);
    if (entry.contains("@of")) outer_[name] = entry["@of"].get<std::string>();
  }
  for (const auto& [name, values] : json["enums"].items()) {
    enums_[name] = ParseEnum(values.get<std::string>());
  }
  for (const auto& [name, entry] : json["methods"].items()) {
    methods_[name] = {.http = entry["@http"],
                      .body = entry["@body"],
                      .reply = entry["@reply"],
                      .query = ParseFields(entry),
                      .versions = ParseVersions(entry["@in"].get<std::string>())};
  }
  const std::vector<std::string> standard = base::Split(json["parameters"].get<std::string>(), ' ');
  parameters_ = {standard.begin(), standard.end()};
}

const ApiSchema& ApiSchema::Get() {
  static const ApiSchema kSchema;
  return kSchema;
}

const SchemaMethod* ApiSchema::Method(const std::string& name, const std::string& version) const {
  const auto found = methods_.find(name);
  if (found == methods_.end() || !IsIn(found->second.versions, version)) return nullptr;
  return &found->second;
}

const SchemaMessage* ApiSchema::Message(const std::string& type) const {
  const auto found = messages_.find(type);
  return found == messages_.end() ? nullptr : &found->second;
}

const std::vector<SchemaValue>* ApiSchema::Enum(const std::string& type) const {
  const auto found = enums_.find(type);
  return found == enums_.end() ? nullptr : &found->second;
}

std::string ApiSchema::FullName(const std::string& type, const std::string& version) const {
  if (type == "Status") return "google.rpc.Status";
  if (type == "Interval") return "google.type.Interval";
  const auto outer = outer_.find(type.substr(0, type.find('.')));
  const std::string prefix = outer == outer_.end() ? "" : outer->second + ".";
  return "google.cloud.tpu." + version + "." + prefix + type;
}

}  // namespace jobman::sim
