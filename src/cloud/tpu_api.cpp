#include "jobman/cloud/tpu_api.hpp"

#include <set>

#include "jobman/base/strings.hpp"
#include "jobman/cloud/error_map.hpp"

namespace jobman::cloud {
namespace {

using base::Error;
using base::GetMember;
using base::GetString;
using core::Place;

/// More than any project has; bounds a listing that never ends.
constexpr int kMostPages = 10'000;

std::string PathOf(const Place& place, std::string_view kind, const std::string& id = "") {
  std::string path = "/v2/projects/" + http::PercentEncode(place.project) + "/locations/" +
                     http::PercentEncode(place.zone) + "/" + std::string(kind);
  if (!id.empty()) path += "/" + http::PercentEncode(id);
  return path;
}

/// The slashes of a resource name must stay.
std::string EncodeName(const std::string& name) {
  std::vector<std::string> parts = base::Split(name, '/');
  for (std::string& part : parts) part = http::PercentEncode(part);
  return base::Join(parts, "/");
}

Error Incomplete(const std::string& path, const std::string& why) {
  return {.code = base::Code::kUnavailable,
          .message = "the listing of " + path + " is incomplete: " + why};
}

/// Adds a page's objects; returns the token of the next page, or empty.
Result<std::string> TakePage(const Json& page, const std::string& path, const std::string& key,
                             std::vector<Json>& all) {
  const Json& unreachable = GetMember(page, "unreachable");
  if (unreachable.is_array() && !unreachable.empty()) {
    const auto* place = unreachable[0].get_ptr<const std::string*>();
    return Incomplete(path, "unreachable: " + (place == nullptr ? "some zones" : *place));
  }
  const Json& items = GetMember(page, key);
  if (!items.is_null() && !items.is_array()) return Incomplete(path, "'" + key + "' is not a list");
  for (const Json& item : items) all.push_back(item);
  return GetString(page, "nextPageToken");
}

template <class T>
Result<std::vector<T>> DecodeAll(const Result<std::vector<Json>>& items,
                                 Result<T> (*decode)(const Json&)) {
  if (!items) return items.error();
  std::vector<T> all;
  for (const Json& item : *items) {
    JM_ASSIGN_OR_RETURN(T one, decode(item));
    all.push_back(std::move(one));
  }
  return all;
}

template <class T>
Result<T> DecodeOne(const Result<Json>& reply, Result<T> (*decode)(const Json&)) {
  if (!reply) return reply.error();
  return decode(*reply);
}

Result<std::vector<std::string>> Words(const Result<std::vector<Json>>& items,
                                       const std::string& key) {
  if (!items) return items.error();
  std::vector<std::string> words;
  for (const Json& item : *items) {
    std::string word = GetString(item, key);
    if (word.empty()) word = LastPart(GetString(item, "name"));
    if (!word.empty()) words.push_back(std::move(word));
  }
  return words;
}

}  // namespace

TpuApi::TpuApi(std::unique_ptr<http::Transport> transport, std::string endpoint)
    : transport_(std::move(transport)), endpoint_(std::move(endpoint)) {
  while (endpoint_.ends_with('/')) endpoint_.pop_back();
}

Task<Result<Json>> TpuApi::Call(WireCall call, Place place) {
  http::Request request{.method = call.method, .url = endpoint_ + call.Target()};
  request.headers = {{"Accept", "application/json"}};
  if (!call.body.is_null()) {
    request.headers.emplace_back("Content-Type", "application/json");
    request.body = call.BodyText();
  }
  Result<http::Response> answer = co_await transport_->Send(std::move(request));
  const std::string doing = call.method + " " + call.path;
  if (!answer) co_return std::move(answer).error().With(doing);
  if (answer->status < 200 || answer->status >= 300) {
    const ErrorContext context{.project = place.project, .zone = place.zone};
    co_return ErrorFromResponse(*answer, context).With(doing);
  }
  if (base::Trim(answer->body).empty()) co_return Json::object();
  Result<Json> reply = base::ParseJson(answer->body);
  if (reply && reply->is_object()) co_return reply;
  Error strange{.code = base::Code::kUnavailable,
                .message = endpoint_ + " did not answer like the Cloud TPU API: " +
                           (reply ? "JSON, but not an object" : reply.error().message),
                .hint = "check the endpoint; a proxy or a login page may have answered instead"};
  co_return std::move(strange).With(doing);
}

Task<Result<std::vector<Json>>> TpuApi::ListAll(std::string path, std::string key, Place place) {
  std::vector<Json> all;
  std::set<std::string> tokens;
  std::string token;
  for (int page = 0; page < kMostPages; ++page) {
    WireCall call{.method = "GET", .path = path};
    if (!token.empty()) call.query.emplace_back("pageToken", token);
    const Result<Json> reply = co_await Call(std::move(call), place);
    if (!reply) co_return reply.error();
    JM_CO_ASSIGN_OR_RETURN(token, TakePage(*reply, path, key, all));
    if (token.empty()) co_return all;
    if (!tokens.insert(token).second) co_return Incomplete(path, "a page token was repeated");
  }
  co_return Incomplete(path, "it does not end");
}

Task<Result<core::OperationSeen>> TpuApi::Create(core::SliceRequest request) {
  const Result<Json> reply = co_await Call(RenderCreate(request), request.ref.place);
  co_return DecodeOne(reply, DecodeOperation);
}

Task<Result<core::OperationSeen>> TpuApi::Delete(core::SliceRef ref) {
  const std::string key = RenderDelete(ref).path;
  const Result<Json> reply = co_await Call(RenderDelete(ref, deletes_[key]), ref.place);
  if (reply) ++deletes_[key];
  co_return DecodeOne(reply, DecodeOperation);
}

Task<Result<std::vector<core::NodeSeen>>> TpuApi::ListNodes(Place place) {
  const auto items = co_await ListAll(PathOf(place, "nodes"), "nodes", place);
  co_return DecodeAll(items, DecodeNode);
}

Task<Result<std::vector<core::QueuedSeen>>> TpuApi::ListQueued(Place place) {
  const auto items = co_await ListAll(PathOf(place, "queuedResources"), "queuedResources", place);
  co_return DecodeAll(items, DecodeQueued);
}

Task<Result<core::NodeSeen>> TpuApi::GetNode(Place place, std::string id) {
  WireCall call{.method = "GET", .path = PathOf(place, "nodes", id)};
  const Result<Json> reply = co_await Call(std::move(call), place);
  co_return DecodeOne(reply, DecodeNode);
}

Task<Result<core::QueuedSeen>> TpuApi::GetQueued(Place place, std::string id) {
  WireCall call{.method = "GET", .path = PathOf(place, "queuedResources", id)};
  const Result<Json> reply = co_await Call(std::move(call), place);
  co_return DecodeOne(reply, DecodeQueued);
}

Task<Result<core::OperationSeen>> TpuApi::GetOperation(std::string name) {
  const Place place{.project = PartAfter(name, "projects"), .zone = PartAfter(name, "locations")};
  WireCall call{.method = "GET", .path = "/v2/" + EncodeName(name)};
  const Result<Json> reply = co_await Call(std::move(call), place);
  co_return DecodeOne(reply, DecodeOperation);
}

Task<Result<std::vector<core::HostKeys>>> TpuApi::GetHostKeys(Place place, std::string node) {
  WireCall call{.method = "POST", .path = PathOf(place, "nodes", node) + ":getGuestAttributes"};
  call.body = {{"queryPath", "hostkeys/"}, {"workerIds", Json::array()}};
  const Result<Json> reply = co_await Call(std::move(call), place);
  if (reply) co_return DecodeHostKeys(*reply);
  if (reply.error().reason == base::Reason::kNotPublished) {
    co_return std::vector<core::HostKeys>();
  }
  co_return reply.error();
}

Task<Result<std::vector<std::string>>> TpuApi::AcceleratorTypes(Place place) {
  const auto items = co_await ListAll(PathOf(place, "acceleratorTypes"), "acceleratorTypes", place);
  co_return Words(items, "type");
}

Task<Result<std::vector<std::string>>> TpuApi::RuntimeVersions(Place place) {
  const auto items = co_await ListAll(PathOf(place, "runtimeVersions"), "runtimeVersions", place);
  co_return Words(items, "version");
}

}  // namespace jobman::cloud
