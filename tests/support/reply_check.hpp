#pragma once

#include <set>
#include <string>

#include "sim/schema/request_reader.hpp"
#include "sim/wire/route.hpp"

namespace jobman::sim {

/// What is wrong with a message that a version of the API sends; "" if nothing. Fields that
/// Google's documentation shows although the discovery documents lack them are let through.
inline std::string WrongIn(const std::string& version, const std::string& message, Json body) {
  static const std::set<std::string> kShownInSamples = {"useTpuVm", "bootDisk"};
  std::string wrong;
  if (message == "Operation") {
    for (const char* any : {"response", "metadata"}) {
      const std::string type = Text(Member(body, any), "@type");
      const std::string ours = "type.googleapis.com/google.cloud.tpu.";
      if (!type.starts_with(ours)) continue;
      if (!type.starts_with(ours + version + ".")) wrong += type + " in " + version + "\n";
      Json inner = body[any];
      inner.erase("@type");
      wrong += WrongIn(version, type.substr(type.rfind('.') + 1), std::move(inner));
    }
  }
  const ReadRequest read =
      ReadCall({.body = message}, version, {.method = "POST", .body = body.dump()});
  for (const Violation& violation : read.violations) {
    bool sample = false;
    for (const std::string& field : kShownInSamples) {
      sample = sample || violation.description.find('"' + field + '"') != std::string::npos;
    }
    if (!sample) wrong += violation.description + "\n";
  }
  for (const Json& operation : Member(body, "operations")) {
    wrong += WrongIn(version, "Operation", operation);
  }
  return wrong;
}

/// The same for the answer to a request.
inline std::string WrongReply(const Request& request, const Reply& reply) {
  const auto route = ParseRoute(request.path);
  if (!route || reply.status != 200 || reply.lost) return "";
  const SchemaMethod* method =
      ApiSchema::Get().Method(MethodName(request.method, *route), route->version);
  if (method == nullptr) return "answered although the API has no such method";
  return WrongIn(route->version, method->reply, reply.body);
}

}  // namespace jobman::sim
