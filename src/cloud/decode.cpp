// From the API's terms to ours. Missing, unknown or mistyped values are left empty.

#include <algorithm>
#include <array>

#include "cloud/accelerator_config.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/base/time.hpp"
#include "jobman/cloud/error_map.hpp"
#include "jobman/cloud/tpu_json.hpp"
#include "jobman/core/guest.hpp"

namespace jobman::cloud {
namespace {

using base::GetBool;
using base::GetMember;
using base::GetString;

base::Error NoName(const std::string& kind) {
  return base::Internal("the service sent a " + kind + " without a name");
}

std::map<std::string, std::string> StringMap(const Json& object) {
  std::map<std::string, std::string> map;
  if (!object.is_object()) return map;
  for (const auto& [key, value] : object.items()) {
    if (const auto* text = value.get_ptr<const std::string*>()) map[key] = *text;
  }
  return map;
}

/// A word for people and for comparing with words that we know; those are short.
std::string WordOf(const Json& object, std::string_view key) {
  constexpr std::size_t kLongestWord = 200;
  return base::Shorten(GetString(object, key), kLongestWord);
}

std::size_t SizeOf(const Json& value) {
  return value.is_array() ? value.size() : 0;
}

/// One address pair for each host. A host with several networks has as many endpoints, primary
/// first.
std::vector<core::HostAddress> HostsOf(const Json& node) {
  std::vector<core::HostAddress> hosts;
  const Json& endpoints = GetMember(node, "networkEndpoints");
  const std::size_t stride = std::max<std::size_t>(1, SizeOf(GetMember(node, "networkConfigs")));
  for (std::size_t i = 0; i < SizeOf(endpoints); i += stride) {
    const Json& endpoint = endpoints[i];
    hosts.push_back({.internal = GetString(endpoint, "ipAddress"),
                     .external = GetString(GetMember(endpoint, "accessConfig"), "externalIp")});
  }
  return hosts;
}

std::string AcceleratorOf(const Json& node) {
  std::string type = WordOf(node, "acceleratorType");
  if (!type.empty()) return type;
  const Json& config = GetMember(node, "acceleratorConfig");
  const std::string topology = WordOf(config, "topology");
  const std::string generation = WordOf(config, "type");
  type = TypeOfConfig(generation, topology);
  if (!type.empty()) return type;
  return generation + (topology.empty() ? "" : " " + topology);
}

/// Such errors tell a cause but not what it befell: "Reservation not found".
std::string WithZone(const std::string& what, const ErrorContext& context) {
  constexpr std::size_t kLongest = 300;
  return base::Shorten(context.zone.empty() ? what : what + " in " + context.zone, kLongest);
}

std::optional<base::Error> FailureOf(const Json& state, const std::string& what,
                                     const ErrorContext& context) {
  if (GetString(state, "state") != "FAILED") return {};
  const Json& status = GetMember(GetMember(state, "failedData"), "error");
  if (status.is_object()) {
    return ErrorFromStatus(status, StatusOrigin::kQueuedFailed, context)
        .With(WithZone(what, context));
  }
  return base::Error{.code = base::Code::kUnknown,
                     .message = "the queued resource failed without a reason from the service"};
}

/// "AAAA..." of "AAAA...", "ssh-ed25519 AAAA..." or "ssh-ed25519 AAAA... root@host".
std::string KeyData(const std::string& type, std::string_view value) {
  std::vector<std::string> words = base::Split(base::Trim(value), ' ');
  std::erase_if(words, [](const std::string& word) { return base::Trim(word).empty(); });
  if (words.size() > 1 && words.front() == type) words.erase(words.begin());
  return words.empty() ? "" : std::string(base::Trim(words.front()));
}

/// PENDING may be a week ahead; ONGOING is now.
std::optional<core::Notice> NoticeOf(const Json& maintenance) {
  if (!maintenance.is_object() || maintenance.empty()) return std::nullopt;
  const std::string status = WordOf(maintenance, "maintenanceStatus");
  std::vector<std::string> words = {WordOf(maintenance, "type"), status};
  const std::string start = WordOf(maintenance, "windowStartTime");
  // People need no nanoseconds: 2026-11-28T00:00:00.123456789Z.
  const std::size_t point = std::min(start.find('.'), start.size());
  const bool fraction = point < start.size() && start.ends_with('Z');
  if (!start.empty()) words.push_back("from " + (fraction ? start.substr(0, point) + "Z" : start));
  std::erase(words, std::string{});
  return core::Notice{.imminent = status == "ONGOING", .text = base::Join(words, ", ")};
}

/// Neither part of a host key has other characters; they would be lines of a known_hosts file.
bool IsKeyWord(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           std::string_view("+/=-@.").find(c) != std::string_view::npos;
  });
}

/// What a host writes there itself is not bounded by anything else.
bool IsKeyOfHost(std::string_view type, std::string_view data) {
  constexpr std::array<std::string_view, 5> kTypes = {"ssh-ed25519", "ecdsa-sha2-nistp256",
                                                      "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521",
                                                      "ssh-rsa"};
  constexpr std::size_t kLongest = std::size_t{8} << 10U;
  return std::find(kTypes.begin(), kTypes.end(), type) != kTypes.end() && data.size() <= kLongest &&
         IsKeyWord(data);
}

std::map<std::string, std::string> KeysOf(const Json& attributes) {
  std::map<std::string, std::string> keys;
  const Json& items = GetMember(GetMember(attributes, "queryValue"), "items");
  for (std::size_t i = 0; i < SizeOf(items); ++i) {
    if (GetString(items[i], "namespace") != "hostkeys") continue;
    const std::string type = GetString(items[i], "key");
    const std::string data = KeyData(type, GetString(items[i], "value"));
    if (IsKeyOfHost(type, data)) keys[type] = data;
  }
  return keys;
}

/// The host wrote it, and it may become a word of a command.
bool IsVmName(std::string_view name) {
  constexpr std::size_t kLongestName = 253;  // RFC 1123, of a host
  const bool clean = std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
           c == '.';
  });
  return clean && !name.empty() && name.front() != '-' && name.size() <= kLongestName;
}

}  // namespace

std::string LastPart(std::string_view name) {
  return std::string(name.substr(name.rfind('/') + 1));
}

std::string PartAfter(std::string_view name, std::string_view kind) {
  const std::vector<std::string> parts = base::Split(name, '/');
  const auto found = std::find(parts.begin(), parts.end(), kind);
  if (found == parts.end() || found + 1 == parts.end()) return "";
  return *(found + 1);
}

Result<core::NodeSeen> DecodeNode(const Json& node) {
  const std::string name = GetString(node, "name");
  const Json& scheduling = GetMember(node, "schedulingConfig");
  core::NodeSeen seen;
  seen.id = LastPart(name);
  if (seen.id.empty()) return NoName("node");
  seen.zone = PartAfter(name, "locations");
  seen.uid = GetString(node, "id");
  seen.raw_state = WordOf(node, "state");
  seen.state = seen.raw_state.empty() ? core::NodeState::kUnspecified
                                      : core::NodeStateFromName(seen.raw_state);
  seen.health = WordOf(node, "health");
  seen.accelerator = AcceleratorOf(node);
  seen.queued_resource = LastPart(GetString(node, "queuedResource"));
  seen.labels = StringMap(GetMember(node, "labels"));
  seen.hosts = HostsOf(node);
  seen.create_time = WordOf(node, "createTime");
  seen.notice = NoticeOf(GetMember(node, "upcomingMaintenance"));
  const auto ends_at = base::ParseRfc3339(GetString(scheduling, "terminationTimestamp"));
  if (ends_at.ok()) seen.ends_at = *ends_at;
  seen.spot = GetBool(scheduling, "spot") || GetBool(scheduling, "preemptible");
  seen.reserved = GetBool(scheduling, "reserved");
  const auto metadata = StringMap(GetMember(node, "metadata"));
  if (metadata.contains(core::kEnableOsLogin))
    seen.os_login = core::IsTrueIn(metadata, core::kEnableOsLogin);
  return seen;
}

Result<core::ReservationSeen> DecodeReservation(const Json& reservation) {
  using Unit = core::ReservationSeen::Unit;
  core::ReservationSeen seen{.id = LastPart(GetString(reservation, "name"))};
  if (seen.id.empty()) return NoName("reservation");
  const Json& standard = GetMember(reservation, "standard");
  const std::string unit = GetString(standard, "capacityUnits");
  seen.state = WordOf(reservation, "state");
  if (unit == "CHIPS") seen.unit = Unit::kChips;
  if (unit == "CORES") seen.unit = Unit::kCores;
  seen.size = base::GetInt(standard, "size");
  seen.used = base::GetInt(GetMember(standard, "usage"), "total");
  return seen;
}

Result<core::QueuedSeen> DecodeQueued(const Json& queued) {
  const std::string name = GetString(queued, "name");
  // The state is an object: .state.state, .state.failedData.error.
  const Json& state = GetMember(queued, "state");
  const Json& specs = GetMember(GetMember(queued, "tpu"), "nodeSpec");
  core::QueuedSeen seen;
  seen.id = LastPart(name);
  if (seen.id.empty()) return NoName("queued resource");
  seen.zone = PartAfter(name, "locations");
  seen.raw_state = WordOf(state, "state");
  seen.state = seen.raw_state.empty() ? core::QueuedState::kUnspecified
                                      : core::QueuedStateFromName(seen.raw_state);
  seen.failure = FailureOf(state, "queued resource " + seen.id,
                           {.project = PartAfter(name, "projects"), .zone = seen.zone});
  if (SizeOf(specs) > 0) seen.labels = StringMap(GetMember(GetMember(specs[0], "node"), "labels"));
  seen.create_time = WordOf(queued, "createTime");
  return seen;
}

Result<core::OperationSeen> DecodeOperation(const Json& operation) {
  core::OperationSeen seen{.name = GetString(operation, "name"),
                           .done = GetBool(operation, "done")};
  seen.node = PartAfter(GetString(GetMember(operation, "metadata"), "target"), "nodes");
  if (seen.name.empty()) return NoName("operation");
  const Json& status = GetMember(operation, "error");
  if (!status.is_object()) return seen;
  const ErrorContext context{.project = PartAfter(seen.name, "projects"),
                             .zone = PartAfter(seen.name, "locations")};
  const std::string what = seen.node.empty() ? seen.name : "node " + seen.node;
  seen.error = ErrorFromStatus(status, StatusOrigin::kOperation, context)
                   .With(WithZone("the operation on " + what, context));
  return seen;
}

std::vector<core::HostKeys> DecodeHostKeys(const Json& reply) {
  std::vector<core::HostKeys> all;
  const Json& hosts = GetMember(reply, "guestAttributes");
  for (std::size_t i = 0; i < SizeOf(hosts); ++i) {
    core::HostKeys keys{.host = static_cast<int>(i), .keys = KeysOf(hosts[i])};
    if (!keys.keys.empty()) all.push_back(std::move(keys));
  }
  return all;
}

std::map<int, std::string> DecodeVmNames(const Json& reply) {
  std::map<int, std::string> names;
  const Json& hosts = GetMember(reply, "guestAttributes");
  for (std::size_t host = 0; host < SizeOf(hosts); ++host) {
    const Json& items = GetMember(GetMember(hosts[host], "queryValue"), "items");
    for (std::size_t i = 0; i < SizeOf(items); ++i) {
      const std::string value = GetString(items[i], "value");
      if (GetString(items[i], "key") != "hostname" || !IsVmName(value)) continue;
      names[static_cast<int>(host)] = value;
    }
  }
  return names;
}

}  // namespace jobman::cloud
