#pragma once

#include <deque>
#include <optional>
#include <string>

#include "jobman/base/result.hpp"
#include "sim/wire/api_error.hpp"

namespace jobman::sim {

/// Something that goes wrong with calls of the API.
struct CallFault {
  enum class Kind {
    kRefuse,       ///< answer with `error`, do nothing
    kOperation,    ///< accept a create, and end its operation with `error`
    kDropRequest,  ///< do nothing, close the connection without an answer
    kDropReply,    ///< do the work, close the connection without an answer
    kTaken,        ///< somebody else has just created something of the same name
    kWait,         ///< accept a create and never go on: in the queue, or CREATING
    kProvision,    ///< the same, but a queued resource gets as far as PROVISIONING
    kGiveUp,       ///< a queued resource gets as far as PROVISIONING, then FAILED
  };
  std::string method = {};  ///< "nodes.create", with * and ? as in shells
  std::int64_t times = 1;
  Kind kind = Kind::kRefuse;
  ApiError error = {};
  std::string name = {};         ///< "unavailable"
  std::string retry_after = {};  ///< Retry-After header, seconds
};

/// The faults that wait for their calls. Of those that match, the first is used.
class CallFaults {
 public:
  /// {"method": "nodes.create", "times": 3, "error": "unavailable", "retry_after": "2"}; `error` is
  /// a name of FaultNames or {"code": 13, "message": "..", "operation": true}.
  base::Status Add(const Json& order);
  /// The fault for a call of `method`; it counts as used.
  std::optional<CallFault> Take(const std::string& method);
  void Clear() { faults_.clear(); }
  Json ToJson() const;

 private:
  std::deque<CallFault> faults_ = {};
};

/// The names that `error` may have.
const std::vector<std::string>& FaultNames();

}  // namespace jobman::sim
