#pragma once

#include <string>
#include <vector>

#include "jobman/http/transport.hpp"
#include "tests/conformance/discovery.hpp"

namespace jobman::conformance {

/// The services beside Cloud TPU that have a document.
inline std::vector<std::string> SideServices() {
  std::vector<std::string> names;
  const Json documents = ReadData("side_services.json");
  for (const auto& [name, document] : documents.items()) names.push_back(name);
  return names;
}

/// The one at the host of the URL, "storage.v1"; empty: none.
inline std::string ServiceAt(const std::string& url) {
  for (const std::string& name : SideServices()) {
    if (url.starts_with(Document(name).at("root").get<std::string>() + "/")) return name;
  }
  return {};
}

/// What is sent to its service, without the host.
inline Sent SentIn(const http::Request& request) {
  const std::string root = Document(ServiceAt(request.url)).at("root");
  return {
      .method = request.method, .target = request.url.substr(root.size()), .body = request.body};
}

/// Of a method that is in the document of the service.
inline Faults JudgeSideReply(const std::string& service, const std::string& id, const Json& body) {
  return JudgeReply(service, Document(service).at("methods").at(id).at("response"), body);
}

/// As the service writes its errors.
inline Faults JudgeSideError(const std::string& service, int status, const Json& body) {
  return Document(service).contains("shows_defaults") ? JudgeOlderError(status, body)
                                                      : JudgeError(status, body);
}

}  // namespace jobman::conformance
