#include "sim/schema/request_reader.hpp"

#include "sim/schema/body_reader.hpp"
#include "sim/schema/scalars.hpp"

namespace jobman::sim {

namespace {

/// The field of the request message that the body is; empty if it is the whole message.
std::string BodyField(const std::string& message) {
  if (message == "Node") return "node";
  return message == "QueuedResource" ? "queued_resource" : "";
}

/// A standard parameter has a second name with a dollar sign: "$alt".
bool IsStandard(const std::string& name) {
  const auto& standard = ApiSchema::Get().parameters();
  return standard.contains(name) || (name[0] == '$' && standard.contains(name.substr(1)));
}

bool IsStandardValue(const std::string& name, const std::string& value) {
  if (name == "alt") return value == "json" || value == "json;enum-encoding=int";
  if (name == "prettyPrint") return ReadParameter("bool", value).has_value();
  if (name == "$.xgafv") return value == "1" || value == "2";
  return true;
}

void ReadStandard(const std::string& name, const std::string& value, ReadRequest& into) {
  const bool plain = ApiSchema::Get().parameters().contains(name);
  const std::string known = plain ? name : name.substr(1);
  if (IsStandardValue(known, value)) {
    into.query[known] = value;
  } else {
    into.violations.push_back(InvalidValue(name, "TYPE_STRING", Json(value).dump()));
  }
}

void ReadQuery(const SchemaMethod& method, const std::string& version, const Request& request,
               ReadRequest& into) {
  for (const std::string& name : request.repeated) {
    const SchemaField* field = FindField(method.query, name);
    if (field != nullptr && field->shape == SchemaField::Shape::kList) continue;
    into.violations.push_back(
        UnknownName(name, "", "Proto field is not repeating, cannot start list."));
  }
  for (const auto& [name, value] : request.query) {
    const SchemaField* field = FindField(method.query, name);
    if (field == nullptr && !name.empty() && IsStandard(name)) {
      ReadStandard(name, value, into);
      continue;
    }
    if (field == nullptr || !IsIn(field->versions, version)) {
      into.violations.push_back(UnknownName(name, "",
                                            "Cannot bind query parameter. Field '" + name +
                                                "' could not be found in request message."));
      continue;
    }
    const auto read = ReadParameter(field->type, value);
    if (read) {
      into.query[field->name] = read->is_string() ? read->get<std::string>() : read->dump();
    } else {
      into.violations.push_back(
          InvalidValue(field->original, ScalarName(field->type), Json(value).dump()));
    }
  }
}

}  // namespace

ReadRequest ReadCall(const SchemaMethod& method, const std::string& version,
                     const Request& request) {
  ReadRequest read;
  ReadQuery(method, version, request, read);
  const std::string at = BodyField(method.body);
  const bool needed = !at.empty();
  if (request.body.empty() && !needed) return read;
  const auto body = ParseOnce(request.body, read.violations);
  if (!body || !body->is_object()) {
    read.malformed = true;
    const bool json = body.has_value();
    read.violations.push_back(
        json ? UnknownName("", "", "Root element must be a message.")
             : Violation{at, "Invalid JSON payload received. The body is not JSON."});
    return read;
  }
  read.body = ReadMessage(method.body, version, *body, at, read.violations);
  return read;
}

}  // namespace jobman::sim
