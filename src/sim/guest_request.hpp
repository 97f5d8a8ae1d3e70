#pragma once

#include <optional>
#include <string>

#include "sim/guest.hpp"

namespace jobman::sim {

/// A request to the metadata server, taken apart.
struct GuestRequest {
  std::string method = {};
  std::string path = {};  ///< without the query
  bool recursive = false;
  bool wait = false;           ///< wait_for_change=true
  std::string last_etag = {};  ///< what the client has seen; empty: what is there now
  std::optional<Duration> timeout = {};
  bool flavored = false;  ///< carries "Metadata-Flavor: Google"
};

/// The head of an HTTP request ("GET /x?y HTTP/1.1\r\nHost: ..\r\n\r\n"); nothing when it is none.
std::optional<GuestRequest> ParseGuestRequest(const std::string& head);
/// What is wrong with a request before anything is looked up.
std::optional<GuestReply> Refusal(const GuestRequest& request);
/// The reply on the wire; the connection ends after it.
std::string OnWire(const GuestReply& reply);

}  // namespace jobman::sim
