#pragma once

#include <string>

#include "jobman/core/slice.hpp"

namespace jobman::test {

/// A call without an answer; it may have arrived.
inline base::Error NoAnswer() {
  return {.code = base::Code::kUnavailable,
          .message = "connection reset",
          .reason = base::Reason::kUnreachable};
}

/// The API's own words for states.
inline std::string WordFor(core::NodeState state) {
  for (const char* word : {"STATE_UNSPECIFIED", "CREATING", "READY", "RESTARTING", "REIMAGING",
                           "DELETING", "REPAIRING", "STOPPED", "STOPPING", "STARTING", "PREEMPTED",
                           "TERMINATED", "HIDING", "HIDDEN", "UNHIDING"}) {
    if (core::NodeStateFromName(word) == state) return word;
  }
  return "UNKNOWN";
}
inline std::string WordFor(core::QueuedState state) {
  for (const char* word :
       {"STATE_UNSPECIFIED", "CREATING", "ACCEPTED", "PROVISIONING", "FAILED", "DELETING", "ACTIVE",
        "SUSPENDING", "SUSPENDED", "WAITING_FOR_RESOURCES"}) {
    if (core::QueuedStateFromName(word) == state) return word;
  }
  return "UNKNOWN";
}

/// Sets the state together with its word.
inline void SetState(core::NodeSeen& node, core::NodeState state) {
  node.state = state;
  node.raw_state = WordFor(state);
}
inline void SetState(core::QueuedSeen& queued, core::QueuedState state) {
  queued.state = state;
  queued.raw_state = WordFor(state);
}

}  // namespace jobman::test
