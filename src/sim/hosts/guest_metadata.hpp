#pragma once

#include <map>
#include <optional>
#include <string>

#include "sim/wire/json.hpp"

namespace jobman::sim {

/// A parsed request to the metadata server.
struct GuestRequest {
  std::string method = {};
  std::string path = {};  ///< without the query
  bool recursive = false;
  bool wait = false;           ///< wait_for_change=true
  std::string last_etag = {};  ///< what the client has seen; empty: the current one
  std::optional<Duration> timeout = {};
  bool flavored = false;  ///< carries "Metadata-Flavor: Google"
  std::string host = {};  ///< the Host header, without a port
};

/// One answer of the metadata server.
struct GuestReply {
  int status = 200;
  std::string body = {};
  std::string type = "application/text";
  /// Changes with the body; `last_etag` refers to it.
  std::string ETag() const;
};

/// All metadata of a host, by path: "instance/preempted" to "FALSE".
using GuestTree = std::map<std::string, std::string>;

/// Parses the head of an HTTP request ("GET /x?y HTTP/1.1\r\nHost: ..\r\n\r\n"), if it is one.
std::optional<GuestRequest> ParseGuestRequest(const std::string& head);
/// Why a request to the server at `address` is refused whatever it asks for, if so.
std::optional<GuestReply> Refusal(const GuestRequest& request, const std::string& address);
/// The value at `path` ("/computeMetadata/v1/instance/preempted"), the listing of a folder, or with
/// `recursive` everything below it as JSON.
GuestReply LookUp(const GuestTree& tree, const std::string& path, bool recursive);
/// The reply as sent; the connection closes after it.
std::string OnWire(const GuestReply& reply);

}  // namespace jobman::sim
