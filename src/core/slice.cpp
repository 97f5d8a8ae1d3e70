#include "jobman/core/slice.hpp"

#include <array>
#include <utility>

#include "core/name_table.hpp"

namespace jobman::core {
namespace {

constexpr std::array kNodeStates = {
    std::pair{NodeState::kUnspecified, "STATE_UNSPECIFIED"},
    std::pair{NodeState::kCreating, "CREATING"},
    std::pair{NodeState::kReady, "READY"},
    std::pair{NodeState::kRestarting, "RESTARTING"},
    std::pair{NodeState::kReimaging, "REIMAGING"},
    std::pair{NodeState::kDeleting, "DELETING"},
    std::pair{NodeState::kRepairing, "REPAIRING"},
    std::pair{NodeState::kStopped, "STOPPED"},
    std::pair{NodeState::kStopping, "STOPPING"},
    std::pair{NodeState::kStarting, "STARTING"},
    std::pair{NodeState::kPreempted, "PREEMPTED"},
    std::pair{NodeState::kTerminated, "TERMINATED"},
    std::pair{NodeState::kHiding, "HIDING"},
    std::pair{NodeState::kHidden, "HIDDEN"},
    std::pair{NodeState::kUnhiding, "UNHIDING"},
    std::pair{NodeState::kUnknown, "UNKNOWN"},
};

constexpr std::array kQueuedStates = {
    std::pair{QueuedState::kUnspecified, "STATE_UNSPECIFIED"},
    std::pair{QueuedState::kCreating, "CREATING"},
    std::pair{QueuedState::kAccepted, "ACCEPTED"},
    std::pair{QueuedState::kProvisioning, "PROVISIONING"},
    std::pair{QueuedState::kFailed, "FAILED"},
    std::pair{QueuedState::kDeleting, "DELETING"},
    std::pair{QueuedState::kActive, "ACTIVE"},
    std::pair{QueuedState::kSuspending, "SUSPENDING"},
    std::pair{QueuedState::kSuspended, "SUSPENDED"},
    std::pair{QueuedState::kWaitingForResources, "WAITING_FOR_RESOURCES"},
    std::pair{QueuedState::kUnknown, "UNKNOWN"},
};

}  // namespace

const std::string& ChosenAddress(const HostAddress& host, const JobSpec& spec) {
  const bool external = spec.ssh.address == AddressChoice::kExternal && spec.tpu.external_ips &&
                        !host.external.empty();
  return external ? host.external : host.internal;
}
NodeState NodeStateFromName(std::string_view name) {
  return ValueIn<NodeState>(kNodeStates, name).value_or(NodeState::kUnknown);
}
std::string_view NoticeKindName(Notice::Kind kind) {
  return kind == Notice::Kind::kMaintenance ? "maintenance" : "preemption";
}
std::optional<Notice::Kind> NoticeKindFromName(std::string_view name) {
  for (const auto kind : {Notice::Kind::kMaintenance, Notice::Kind::kPreemption}) {
    if (NoticeKindName(kind) == name) return kind;
  }
  return std::nullopt;
}
QueuedState QueuedStateFromName(std::string_view name) {
  return ValueIn<QueuedState>(kQueuedStates, name).value_or(QueuedState::kUnknown);
}

}  // namespace jobman::core
