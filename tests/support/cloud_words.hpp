#pragma once

#include "jobman/core/slice.hpp"

namespace jobman::test {

/// A call without an answer; it may have arrived.
inline base::Error NoAnswer() {
  return {.code = base::Code::kUnavailable,
          .message = "connection reset",
          .reason = base::Reason::kUnreachable};
}

/// Sets the state together with the API's own word for it.
inline void SetState(core::NodeSeen& node, core::NodeState state) {
  node.state = state;
  node.raw_state = core::NodeStateName(state);
}
inline void SetState(core::QueuedSeen& queued, core::QueuedState state) {
  queued.state = state;
  queued.raw_state = core::QueuedStateName(state);
}

}  // namespace jobman::test
