#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/conformance/client_wire.hpp"

namespace jobman::conformance {

// What the client understood of a reply, as text. A member that is added to one of these structs
// does not compile here until it is shown.

inline std::string Shown(const std::string& text) {
  return text;
}

inline std::string Shown(const std::optional<base::Error>& error) {
  if (!error) return "fine";
  const auto& [code, message, reason, hint, retry_after, context] = *error;
  return fmt::format("{} {} ({}, {}) after {} in {}", base::CodeName(code), message,
                     base::ReasonName(reason), hint, retry_after ? retry_after->count() : -1,
                     context);
}

inline std::string Shown(const core::NodeSeen& node) {
  const auto& [id, zone, uid, state, raw_state, health, accelerator, queued, labels, hosts, created,
               notice, ends_at, spot, reserved, os_login] = node;
  std::string text = fmt::format("node {} {} {} {} {} {} {} {} {} {} {} {}", id, zone, uid,
                                 static_cast<int>(state), raw_state, health, accelerator, queued,
                                 labels, created, spot, reserved);
  for (const core::HostAddress& host : hosts) text += " " + host.internal + "|" + host.external;
  if (notice) text += fmt::format(" {} {}", notice->imminent, notice->text);
  if (ends_at) text += " until " + base::FormatRfc3339(*ends_at);
  if (os_login) text += *os_login ? " with OS Login" : " without OS Login";
  return text;
}

inline std::string Shown(const core::QueuedSeen& queued) {
  const auto& [id, zone, state, raw_state, failure, labels, created] = queued;
  return fmt::format("queued {} {} {} {} {} {} {}", id, zone, static_cast<int>(state), raw_state,
                     Shown(failure), labels, created);
}

inline std::string Shown(const core::OperationSeen& operation) {
  const auto& [name, done, error, node] = operation;
  return fmt::format("operation {} {} {} {}", name, done, Shown(error), node);
}

inline std::string Shown(const core::ReservationSeen& reservation) {
  const auto& [id, state, unit, size, used] = reservation;
  return fmt::format("reservation {} {} {} {} {}", id, state, static_cast<int>(unit), size, used);
}

inline std::string Shown(const core::HostKeys& keys) {
  return fmt::format("keys {} {}", keys.host, keys.keys);
}

template <class T>
std::string Shown(const std::vector<T>& all) {
  std::string text = "list";
  for (const T& one : all) text += "\n  " + Shown(one);
  return text;
}

template <class T>
std::string Shown(const base::Result<T>& result) {
  return result ? Shown(*result) : "failed: " + Shown(std::optional<base::Error>(result.error()));
}

/// What the client makes of an answer that has this message of the API, or of an error.
inline std::string Understood(const std::string& message, int status, const std::string& body) {
  const core::Place place{.project = "p", .zone = "us-central2-b"};
  const std::string a = "a";
  Client client;
  cloud::TpuApi& api = client.api();
  client.Answer(body, status);
  client.Answer("{}");  // for a listing that has another page
  if (message == "Node") return Shown(client.Run(api.GetNode(place, a)));
  if (message == "QueuedResource") return Shown(client.Run(api.GetQueued(place, a)));
  if (message == "Operation") return Shown(client.Run(api.GetOperation("projects/p/o")));
  if (message == "ListNodesResponse") return Shown(client.Run(api.ListNodes(place)));
  if (message == "ListQueuedResourcesResponse") return Shown(client.Run(api.ListQueued(place)));
  if (message == "GetGuestAttributesResponse") return Shown(client.Run(api.GetHostKeys(place, a)));
  if (message == "ListAcceleratorTypesResponse") {
    return Shown(client.Run(api.AcceleratorTypes(place)));
  }
  if (message == "ListRuntimeVersionsResponse") {
    return Shown(client.Run(api.RuntimeVersions(place)));
  }
  if (message == "ListReservationsResponse") return Shown(client.Run(api.Reservations(place)));
  if (message == "ListLocationsResponse") return Shown(client.Run(api.Zones("p")));
  return "nothing: the client never asks for " + message;
}

/// The same with fields that no document has, in every object of it at any depth.
inline Json WithStrangers(Json value) {
  if (value.is_array()) {
    for (Json& item : value) item = WithStrangers(std::move(item));
  }
  if (!value.is_object()) return value;
  const Json known = value;
  for (const auto& [key, member] : known.items()) value[key] = WithStrangers(member);
  value["aFieldOfTomorrow"] = {{"state", "TOMORROW"}, {"name", "n"}, {"list", {1, nullptr, "x"}}};
  value["zzz"] = Json::array({Json::object()});
  return value;
}

}  // namespace jobman::conformance
