#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/wire/json.hpp"

namespace jobman::sim {

/// What is wrong with new connections to a host, or with its disk. Open connections stay as they
/// are, and so does what runs.
enum class HostFaultKind {
  kNone,
  kSlow,           ///< each packet is late, in both directions
  kRefuse,         ///< nobody listens: connections are refused
  kReset,          ///< connections are accepted and reset at once
  kHangHandshake,  ///< connections are accepted, and nothing is said
  kHangAfterAuth,  ///< logins are accepted, and nothing is answered after that
  kResetMiddle,    ///< connections are reset when they begin a command
  kWrongKey,       ///< another host key than the one that was published
  kFull,           ///< new commands find a home without a free byte
};

/// A host has one fault at a time.
struct HostFault {
  HostFaultKind kind = HostFaultKind::kNone;
  Duration late = Duration{200};  ///< of kSlow
};

/// "hang-handshake"; "" for kNone.
std::string_view HostFaultName(HostFaultKind kind);
/// The kind of this name. Nothing for another word, and for "".
std::optional<HostFaultKind> HostFaultNamed(std::string_view name);
/// All names, in the order above.
std::vector<std::string> HostFaultNames();

}  // namespace jobman::sim
