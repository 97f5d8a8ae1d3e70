#pragma once

#include <optional>
#include <string>

#include "sim/wire/request.hpp"

namespace jobman::sim {

/// What decides whether a request is looked at.
struct Envelope {
  std::string host = {};     ///< the Host header; empty without one, or with several
  std::string token = {};    ///< of "Authorization: Bearer"; empty without one
  std::string content = {};  ///< Content-Type
  bool has_origin = false;   ///< a browser sends it, no client of an API
  bool has_body = false;
};

/// What every request must show before any path sees it. The simulator executes what it is sent,
/// and any user and any web page of this machine can reach its port.
class Gate {
 public:
  /// `token` is the only one accepted; with an empty one, nothing is.
  explicit Gate(std::string token) : token_(std::move(token)) {}
  /// 403 for a Host that does not name this machine (DNS rebinding) and for an Origin; 401 without
  /// the token; 415 for a body that is not declared as JSON, which a web form cannot send.
  std::optional<Reply> Refusal(const Envelope& envelope) const;

 private:
  std::string token_;
};

/// Whether a Host header names this machine: 127.0.0.1, localhost or [::1], with or without a port.
bool IsThisMachine(const std::string& host);

}  // namespace jobman::sim
