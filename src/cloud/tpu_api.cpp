#include "jobman/cloud/tpu_api.hpp"

#include <set>

#include "cloud/error_hints.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/cloud/error_map.hpp"

namespace jobman::cloud {
namespace {

using base::Error;
using base::GetMember;
using base::GetString;
using core::Place;

/// More than any project has; these bound a listing that never ends.
constexpr int kMostPages = 2'000;
constexpr std::size_t kMostItems = 100'000;
constexpr std::size_t kMostListed = std::size_t{64} << 20U;  ///< bytes of all pages
constexpr base::Duration kLongestListing = std::chrono::minutes{2};

std::string ParentOf(const Place& place) {
  return "projects/" + http::PercentEncode(place.project) + "/locations/" +
         http::PercentEncode(place.zone);
}

std::string PathOf(const Place& place, std::string_view kind, const std::string& id = "") {
  std::string path = "/v2/" + ParentOf(place) + "/" + std::string(kind);
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
          .message = "the listing of " + path + " is incomplete: " + why,
          .hint = HintFor(base::Code::kUnavailable, base::Reason::kNone, About::kNothingElse, {})};
}

/// Not an error that another try could mend.
Error TooLong(const std::string& path, const std::string& bound) {
  Error error = Incomplete(path, bound);
  error.code = base::Code::kFailedPrecondition;
  error.hint = "no project has that many: check the endpoint";
  return error;
}

/// Whether the page has its part of the listing.
base::Status CheckPage(const Json& page, const std::string& path, const std::string& key) {
  const Json& unreachable = GetMember(page, "unreachable");
  if (unreachable.is_array() && !unreachable.empty()) {
    constexpr std::size_t kShown = 200;
    const auto* place = unreachable[0].get_ptr<const std::string*>();
    return Incomplete(
        path, "unreachable: " + (place == nullptr ? "some zones" : base::Shorten(*place, kShown)));
  }
  const Json& items = GetMember(page, key);
  if (!items.is_null() && !items.is_array()) return Incomplete(path, "'" + key + "' is not a list");
  return base::Ok();
}

/// Collects decoded objects.
template <class T>
auto Into(std::vector<T>& all, Result<T> (*decode)(const Json&)) {
  return [&all, decode](const Json& item) -> base::Status {
    JM_ASSIGN_OR_RETURN(T one, decode(item));
    all.push_back(std::move(one));
    return base::Ok();
  };
}

/// Collects the word `key` of each object, else the last part of its name.
auto WordsInto(std::vector<std::string>& words, const std::string& key) {
  return [&words, key](const Json& item) {
    std::string word = GetString(item, key);
    if (word.empty()) word = LastPart(GetString(item, "name"));
    if (!word.empty()) words.push_back(std::move(word));
    return base::Ok();
  };
}

template <class T>
Result<T> DecodeOne(const Result<Json>& reply, Result<T> (*decode)(const Json&)) {
  if (!reply) return reply.error();
  return decode(*reply);
}

}  // namespace

TpuApi::TpuApi(std::unique_ptr<http::Transport> transport, std::string endpoint,
               const base::Clock& clock)
    : transport_(std::move(transport)), endpoint_(std::move(endpoint)), clock_(clock) {
  while (endpoint_.ends_with('/')) endpoint_.pop_back();
}

Task<Result<std::string>> TpuApi::Send(WireCall call, Place place) {
  http::Request request{.method = call.method, .url = endpoint_ + call.Target()};
  request.headers = {{"Accept", "application/json"}};
  if (!call.body.is_null()) {
    request.headers.emplace_back("Content-Type", "application/json");
    request.body = call.BodyText();
  }
  Result<http::Response> answer = co_await transport_->Send(std::move(request));
  const std::string doing = call.method + " " + call.path;
  if (!answer) co_return ErrorFromExchange(std::move(answer).error()).With(doing);
  if (answer->status < 200 || answer->status >= 300) {
    const ErrorContext context{.project = place.project, .zone = place.zone, .now = clock_.Now()};
    co_return ErrorFromResponse(*answer, context).With(doing);
  }
  co_return std::move(answer->body);
}

Task<Result<Json>> TpuApi::Call(WireCall call, Place place) {
  const std::string doing = call.method + " " + call.path;
  JM_CO_ASSIGN_OR_RETURN(const std::string body, co_await Send(std::move(call), place));
  co_return ReadReply(body, doing);
}

Result<Json> TpuApi::ReadReply(const std::string& body, const std::string& doing) const {
  if (base::Trim(body).empty()) return Json::object();
  Result<Json> reply = base::ParseJson(body);
  if (reply && reply->is_object()) return reply;
  Error strange{.code = base::Code::kUnavailable,
                .message = endpoint_ + " did not answer like the Cloud TPU API: " +
                           (reply ? "JSON, but not an object" : reply.error().message),
                .hint = kAskElsewhere};
  return std::move(strange).With(doing);
}

Task<base::Status> TpuApi::ListAll(std::string path, std::string key, Place place, Take take) {
  std::set<std::string> tokens;
  std::string token;
  std::size_t items = 0;
  std::size_t bytes = 0;
  const base::TimePoint began = clock_.Now();
  for (int page = 0; page < kMostPages; ++page) {
    WireCall call{.method = "GET", .path = path};
    if (!token.empty()) call.query.emplace_back("pageToken", token);
    JM_CO_ASSIGN_OR_RETURN(const std::string body, co_await Send(std::move(call), place));
    // Of compressed data that end at once, as a broken proxy sends them, nothing is left.
    if (base::Trim(body).empty()) co_return Incomplete(path, "an answer has no content");
    JM_CO_ASSIGN_OR_RETURN(const Json reply, ReadReply(body, "GET " + path));
    JM_CO_TRY(CheckPage(reply, path, key));
    const Json& list = GetMember(reply, key);
    items += list.size();
    bytes += body.size();
    if (items > kMostItems) {
      co_return TooLong(path, "it has more than " + std::to_string(kMostItems) + " entries");
    }
    if (bytes > kMostListed) {
      co_return TooLong(path, "it has more than " + std::to_string(kMostListed >> 20U) + " MiB");
    }
    for (const Json& item : list) JM_CO_TRY(take(item));
    token = GetString(reply, "nextPageToken");
    if (token.empty()) co_return base::Ok();
    if (!tokens.insert(token).second) co_return Incomplete(path, "a page token was repeated");
    if (clock_.Now() - began > kLongestListing) {
      co_return TooLong(path, "it did not end within " + base::FormatDuration(kLongestListing));
    }
  }
  co_return TooLong(path, "it has more than " + std::to_string(kMostPages) + " pages");
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
  std::vector<core::NodeSeen> nodes;
  const Take take = Into(nodes, DecodeNode);
  JM_CO_TRY(co_await ListAll(PathOf(place, "nodes"), "nodes", place, take));
  co_return nodes;
}

Task<Result<std::vector<core::QueuedSeen>>> TpuApi::ListQueued(Place place) {
  std::vector<core::QueuedSeen> queued;
  const Take take = Into(queued, DecodeQueued);
  JM_CO_TRY(co_await ListAll(PathOf(place, "queuedResources"), "queuedResources", place, take));
  co_return queued;
}

Task<Result<core::NodeSeen>> TpuApi::GetNode(Place place, std::string id) {
  const Result<Json> reply = co_await Call(RenderLook(place, id), place);
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

Task<Result<core::OperationSeen>> TpuApi::AddLogin(Place place, std::string node,
                                                   std::string line) {
  core::LoginChange change{.add = {std::move(line)}};
  co_return co_await ChangeLogins(std::move(place), std::move(node), std::move(change));
}

Task<Result<core::OperationSeen>> TpuApi::ChangeLogins(Place place, std::string node,
                                                       core::LoginChange change) {
  JM_CO_ASSIGN_OR_RETURN(const Json seen, co_await Call(RenderLook(place, node), place));
  Json metadata = GetMember(seen, "metadata");
  const std::string keys = GetString(metadata, "ssh-keys");
  std::string changed = core::ChangedLogins(keys, change);
  if (changed == keys) co_return core::OperationSeen{.done = true};
  if (!metadata.is_object()) metadata = Json::object();
  metadata["ssh-keys"] = std::move(changed);
  // The mask replaces the whole map.
  WireCall call{.method = "PATCH", .path = PathOf(place, "nodes", node)};
  call.query.emplace_back("updateMask", "metadata");
  call.body["metadata"] = std::move(metadata);
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

Task<Result<std::map<int, std::string>>> TpuApi::GetVmNames(Place place, std::string node) {
  // All attributes: gcloud names no path and no namespace either.
  WireCall call{.method = "POST", .path = PathOf(place, "nodes", node) + ":getGuestAttributes"};
  call.body = {{"workerIds", Json::array()}};
  const Result<Json> reply = co_await Call(std::move(call), place);
  if (reply) co_return DecodeVmNames(*reply);
  if (reply.error().reason == base::Reason::kNotPublished) co_return std::map<int, std::string>();
  co_return reply.error();
}

Task<Result<std::vector<std::string>>> TpuApi::AcceleratorTypes(Place place) {
  std::vector<std::string> types;
  const Take take = WordsInto(types, "type");
  JM_CO_TRY(co_await ListAll(PathOf(place, "acceleratorTypes"), "acceleratorTypes", place, take));
  co_return types;
}

Task<Result<std::vector<std::string>>> TpuApi::RuntimeVersions(Place place) {
  std::vector<std::string> versions;
  const Take take = WordsInto(versions, "version");
  JM_CO_TRY(co_await ListAll(PathOf(place, "runtimeVersions"), "runtimeVersions", place, take));
  co_return versions;
}

Task<Result<std::vector<std::string>>> TpuApi::Zones(std::string project) {
  std::vector<std::string> zones;
  const Take take = WordsInto(zones, "locationId");
  const std::string path = "/v2/projects/" + http::PercentEncode(project) + "/locations";
  Place all{.project = std::move(project)};
  JM_CO_TRY(co_await ListAll(path, "locations", std::move(all), take));
  co_return zones;
}

Task<Result<std::vector<core::ReservationSeen>>> TpuApi::Reservations(Place place) {
  std::vector<core::ReservationSeen> reservations;
  const Take take = Into(reservations, DecodeReservation);
  const std::string path = "/v2alpha1/" + ParentOf(place) + "/reservations";
  JM_CO_TRY(co_await ListAll(path, "reservations", place, take));
  co_return reservations;
}

Task<Result<core::OperationSeen>> TpuApi::PerformMaintenance(Place place, std::string node) {
  const Result<Json> reply = co_await Call(RenderMaintenance(place, node), place);
  co_return DecodeOne(reply, DecodeOperation);
}

Task<Result<core::OperationSeen>> TpuApi::PerformQueuedMaintenance(Place place, std::string queued,
                                                                   std::vector<std::string> nodes) {
  const Result<Json> reply = co_await Call(RenderQueuedMaintenance(place, queued, nodes), place);
  co_return DecodeOne(reply, DecodeOperation);
}

}  // namespace jobman::cloud
