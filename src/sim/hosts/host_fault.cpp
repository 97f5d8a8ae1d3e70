#include "sim/hosts/host_fault.hpp"

#include <array>

namespace jobman::sim {

namespace {

constexpr std::array kFaultKinds = {HostFaultKind::kSlow,          HostFaultKind::kRefuse,
                                    HostFaultKind::kReset,         HostFaultKind::kHangHandshake,
                                    HostFaultKind::kHangAfterAuth, HostFaultKind::kResetMiddle,
                                    HostFaultKind::kWrongKey,      HostFaultKind::kFull};

}  // namespace

std::string_view HostFaultName(HostFaultKind kind) {
  switch (kind) {
    case HostFaultKind::kNone:
      return "";
    case HostFaultKind::kSlow:
      return "slow";
    case HostFaultKind::kRefuse:
      return "refuse";
    case HostFaultKind::kReset:
      return "reset";
    case HostFaultKind::kHangHandshake:
      return "hang-handshake";
    case HostFaultKind::kHangAfterAuth:
      return "hang-after-auth";
    case HostFaultKind::kResetMiddle:
      return "reset-middle";
    case HostFaultKind::kWrongKey:
      return "wrong-key";
    case HostFaultKind::kFull:
      return "full";
  }
  return "";
}

std::optional<HostFaultKind> HostFaultNamed(std::string_view name) {
  for (const HostFaultKind kind : kFaultKinds)
    if (HostFaultName(kind) == name) return kind;
  return std::nullopt;
}

std::vector<std::string> HostFaultNames() {
  std::vector<std::string> names;
  for (const HostFaultKind kind : kFaultKinds) names.emplace_back(HostFaultName(kind));
  return names;
}

}  // namespace jobman::sim
