#include "tests/e2e/error_cloud.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "jobman/base/strings.hpp"

namespace jobman::test {
namespace {

using base::Json;

constexpr const char* kVersion = "/v2/";

std::string Http(int status, const std::string& body,
                 const std::map<std::string, std::string>& headers = {}) {
  std::string text = fmt::format("HTTP/1.1 {} Said\r\nContent-Length: {}\r\nConnection: close\r\n",
                                 status, body.size());
  for (const auto& [name, value] : headers) text += name + ": " + value + "\r\n";
  return text + "\r\n" + body;
}

std::string Fine(const Json& body) {
  return Http(200, body.dump());
}

std::string Error(const Trouble& trouble) {
  const std::string body =
      trouble.body.is_string() ? trouble.body.get<std::string>() : trouble.body.dump();
  return Http(trouble.http_status, body, trouble.headers);
}

std::string NotFound(const std::string& name) {
  const Json error = {
      {"code", 404}, {"message", "Resource '" + name + "' was not found"}, {"status", "NOT_FOUND"}};
  Json body = Json::object();
  body["error"] = error;
  return Http(404, body.dump());
}

/// Of "projects/P/locations/Z/nodes/N".
std::string OperationsOf(const std::string& name) {
  std::vector<std::string> parts = base::Split(name, '/');
  parts.resize(std::min<std::size_t>(parts.size(), 4));
  return base::Join(parts, "/") + "/operations/";
}

Json Operation(const std::string& name, const std::string& target, bool done) {
  Json operation = {{"name", name}, {"metadata", {{"target", target}}}};
  if (done) operation["done"] = true;
  return operation;
}

/// "b" of "x?a=b&c=d" for "a".
std::string QueryValue(const std::string& query, const std::string& key) {
  for (const std::string& pair : base::Split(query, '&')) {
    if (pair.starts_with(key + "=")) return pair.substr(key.size() + 1);
  }
  return {};
}

}  // namespace

/// A request: "POST /TROUBLE/v2/NAME?QUERY".
struct ErrorCloud::Call {
  std::string trouble = {};
  std::string method = {};
  std::string name = {};  ///< of the resource or the collection
  std::string query = {};
  std::string body = {};

  explicit Call(const std::string& request) {
    const std::size_t end = std::min(request.find("\r\n\r\n"), request.size());
    body = request.substr(std::min(end + 4, request.size()));
    const std::vector<std::string> words =
        base::Split(request.substr(0, std::min(request.find("\r\n"), end)), ' ');
    if (words.size() < 2) return;
    method = words[0];
    const std::string path = words[1].substr(0, words[1].find('?'));
    if (path.size() < words[1].size()) query = words[1].substr(path.size() + 1);
    const std::size_t version = path.find(kVersion);
    if (version == std::string::npos || version == 0) return;
    trouble = path.substr(1, version - 1);
    name = path.substr(version + std::string_view(kVersion).size());
  }
  bool IsList(const std::string& kind) const {
    return method == "GET" && name.ends_with("/" + kind);
  }
  bool IsOf(Met met) const {
    const bool slices = IsList("nodes") || IsList("queuedResources");
    switch (met) {
      case Met::kOffer:
        return IsList("acceleratorTypes") || IsList("runtimeVersions");
      case Met::kCreate:
      case Met::kTaken:
        return method == "POST";
      case Met::kList:
        return slices;
      case Met::kDelete:
        return method == "DELETE";
      case Met::kEverything:
        return true;
      case Met::kOperation:
      case Met::kQueued:
        return false;  // inside of an answer
    }
    return false;
  }
};

ErrorCloud::ErrorCloud(std::map<std::string, Trouble> troubles)
    : troubles_(std::move(troubles)),
      listener_(
          ServiceThatAnswers([this](const std::string& request) { return Answer(request); })) {}

std::string ErrorCloud::address() const {
  return "127.0.0.1:" + std::to_string(listener_.port());
}

std::string ErrorCloud::EndpointOf(const std::string& trouble) const {
  return "http://" + address() + "/" + trouble;
}

std::string ErrorCloud::Answer(const std::string& request) {
  const Call call(request);
  const auto trouble = troubles_.find(call.trouble);
  if (trouble == troubles_.end()) return NotFound(call.name);
  const bool is_it = call.IsOf(trouble->second.met);
  if (!is_it) return AnswerWell(call);
  if (trouble->second.met == Met::kTaken) Create(call);
  return Error(trouble->second);
}

std::string ErrorCloud::AnswerWell(const Call& call) {
  if (call.method == "POST") return Create(call);
  if (call.method == "DELETE") return Delete(call);
  return Look(call);
}

/// What is created stays so, or fails. A taken name is that of a node without our labels.
std::string ErrorCloud::Create(const Call& call) {
  const Trouble& trouble = troubles_.at(call.trouble);
  const bool taken = trouble.met == Met::kTaken;
  const bool queued = call.name.ends_with("queuedResources");
  const std::string id = QueryValue(call.query, queued ? "queuedResourceId" : "nodeId");
  const std::string name = call.name + "/" + id;
  const auto sent = base::ParseJson(call.body);
  Json resource = sent.ok() && !taken ? *sent : Json::object();
  resource["name"] = name;
  if (queued && trouble.met == Met::kQueued) {
    resource["state"] = {{"state", "FAILED"}, {"failedData", {{"error", trouble.body}}}};
  } else if (queued) {
    resource["state"] = {{"state", "PROVISIONING"}};
  } else {
    resource["state"] = taken ? "READY" : "CREATING";
  }
  const bool fails = trouble.met == Met::kOperation;
  if (!fails) resources_[call.trouble][name] = std::move(resource);
  return Fine(Operation(OperationsOf(name) + id, name, !fails));
}

std::string ErrorCloud::Look(const Call& call) {
  const auto& known = resources_[call.trouble];
  if (const auto found = known.find(call.name); found != known.end()) return Fine(found->second);
  const std::size_t id = call.name.rfind('/') + 1;
  if (call.name.substr(0, id).ends_with("/operations/")) {
    const std::string zone = call.name.substr(0, call.name.rfind("/operations/"));
    Json operation = Operation(call.name, zone + "/nodes/" + call.name.substr(id), true);
    const Trouble& trouble = troubles_.at(call.trouble);
    if (trouble.met == Met::kOperation) operation["error"] = trouble.body;
    return Fine(operation);
  }
  for (const std::string kind :
       {"nodes", "queuedResources", "acceleratorTypes", "runtimeVersions"}) {
    if (!call.IsList(kind)) continue;
    Json list = Json::array();
    for (const auto& [name, resource] : known) {
      if (name.starts_with(call.name + "/")) list.push_back(resource);
    }
    Json page = Json::object();
    page[kind] = std::move(list);
    return Fine(page);
  }
  return NotFound(call.name);
}

std::string ErrorCloud::Delete(const Call& call) {
  if (resources_[call.trouble].erase(call.name) == 0) return NotFound(call.name);
  const std::string id = call.name.substr(call.name.rfind('/') + 1);
  return Fine(Operation(OperationsOf(call.name) + "delete-" + id, call.name, true));
}

}  // namespace jobman::test
