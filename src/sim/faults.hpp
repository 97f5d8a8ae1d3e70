#pragma once

#include <deque>
#include <optional>
#include <string>

#include "jobman/base/result.hpp"
#include "sim/errors.hpp"
#include "sim/wire.hpp"

namespace jobman::sim {

/// What shall go wrong with a call.
struct Fault {
  enum class Kind {
    kRefuse,       ///< answer with `error`, do nothing
    kOperation,    ///< accept a create, and end its operation with `error`
    kDropRequest,  ///< do nothing, close the connection without an answer
    kDropReply,    ///< do the work, close the connection without an answer
    kTaken,        ///< somebody else has just made something of the name that a create asks for
    kWait,         ///< accept a create and never go on: in the queue, or CREATING
    kProvision,    ///< the same, but a queued resource gets as far as PROVISIONING
    kGiveUp,       ///< a queued resource gets as far as PROVISIONING, and then FAILED
  };
  std::string method = {};  ///< "nodes.create", with * and ? as in shells
  std::int64_t times = 1;
  Kind kind = Kind::kRefuse;
  ApiError error = {};
  std::string name = {};         ///< as ordered: "unavailable"
  std::string retry_after = {};  ///< Retry-After header, seconds
};

/// The faults that wait for their calls, first come first served.
class Faults {
 public:
  /// {"method": "nodes.create", "times": 3, "error": "unavailable", "retry_after": "2"}; `error` is
  /// a name of FaultNames or {"code": 13, "message": "..", "operation": true}.
  base::Status Add(const Json& order);
  /// The fault for a call of `method`, used up by this.
  std::optional<Fault> Take(const std::string& method);
  void Clear() { faults_.clear(); }
  bool empty() const { return faults_.empty(); }
  Json ToJson() const;

 private:
  std::deque<Fault> faults_ = {};
};

/// The names that `error` may have.
const std::vector<std::string>& FaultNames();

}  // namespace jobman::sim
