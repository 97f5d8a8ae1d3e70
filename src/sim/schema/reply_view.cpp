#include "sim/schema/reply_view.hpp"

#include "sim/schema/api_schema.hpp"

namespace jobman::sim {

namespace {

/// The types of messages of the API in an Any, up to the version.
constexpr std::string_view kOurTypes = "type.googleapis.com/google.cloud.tpu.";

Json ShownEnum(const ReplyView& view, const std::vector<SchemaValue>& values, Json name) {
  const SchemaValue* shown = nullptr;
  bool known = false;
  for (const SchemaValue& value : values) {
    const bool is_it = name == Json(value.name);
    known = known || is_it;
    if (!IsIn(value.versions, view.version)) continue;
    shown = &value;
    if (is_it) break;
  }
  if (!known || shown == nullptr) return name;
  return view.enum_numbers ? Json(shown->number) : Json(shown->name);
}

Json ShownAny(const ReplyView& view, Json body) {
  const std::string type = Text(body, "@type");
  if (!type.starts_with(kOurTypes)) return body;
  const std::string message = type.substr(type.rfind('.') + 1);
  if (ApiSchema::Get().Message(message) == nullptr) return body;
  body = ShownIn(view, message, std::move(body));
  body["@type"] = std::string(kOurTypes) + view.version + "." + message;
  return body;
}

Json ShownOne(const ReplyView& view, const std::string& type, Json value) {
  if (type == "any") return ShownAny(view, std::move(value));
  if (const auto* values = ApiSchema::Get().Enum(type)) {
    return ShownEnum(view, *values, std::move(value));
  }
  return ShownIn(view, type, std::move(value));
}

}  // namespace

Json ShownIn(const ReplyView& view, const std::string& message, Json body) {
  const SchemaMessage* fields = ApiSchema::Get().Message(message);
  if (fields == nullptr || !body.is_object()) return body;
  for (const SchemaField& field : *fields) {
    const auto found = body.find(field.name);
    if (found == body.end()) continue;
    if (!IsIn(field.versions, view.version)) {
      body.erase(found);
    } else if (field.shape == SchemaField::Shape::kList && found->is_array()) {
      for (Json& item : *found) item = ShownOne(view, field.type, std::move(item));
    } else if (field.shape == SchemaField::Shape::kOne) {
      *found = ShownOne(view, field.type, std::move(*found));
    }
  }
  return body;
}

}  // namespace jobman::sim
