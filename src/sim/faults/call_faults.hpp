#pragma once

#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "jobman/base/result.hpp"
#include "sim/wire/api_error.hpp"

namespace jobman::sim {

/// A fault that API calls meet.
struct CallFault {
  enum class Kind {
    kRefuse,       ///< answer with `error`, do nothing
    kOperation,    ///< accept a create, and end its operation with `error`
    kDropRequest,  ///< do nothing, close the connection without an answer
    kDropReply,    ///< do the work, close the connection without an answer
    kTaken,        ///< somebody else has just created a resource of the same name
    kWait,         ///< accept a create, then stay in the queue or CREATING for ever
    kProvision,    ///< the same, but a queued resource reaches PROVISIONING
    kGiveUp,       ///< a queued resource reaches PROVISIONING, then FAILED
    kListNone,     ///< a listing is answered without its entries, as if it were complete
    kListPart,     ///< a listing omits every second entry, from the first on
    kListSilent,   ///< a listing has no entries, and its zone in `unreachable`
    kListLost,     ///< a listing shows its entries as PREEMPTED or SUSPENDED
    kListForeign,  ///< a listing shows its entries without labels
    kListMoved,    ///< a listing shows its nodes on other machines
  };
  std::string method = {};  ///< "nodes.create", with * and ? as in shells
  std::int64_t times = 1;
  Kind kind = Kind::kRefuse;
  ApiError error = {};
  std::string name = {};         ///< "unavailable"
  std::string retry_after = {};  ///< Retry-After header, seconds
};

/// The faults waiting for calls. The first that matches a call is used.
class CallFaults {
 public:
  /// `methods`: the methods that there are.
  explicit CallFaults(std::vector<std::string> methods) : methods_(std::move(methods)) {}
  /// {"method": "nodes.create", "times": 3, "error": "unavailable", "retry_after": "2"}; `error` is
  /// a name of FaultNames or {"code": 13, "message": "..", "operation": true}.
  base::Status Add(const Json& order);
  /// The fault for a call of `method`; it is counted as used.
  std::optional<CallFault> Take(const std::string& method);
  void Clear() { faults_.clear(); }
  Json ToJson() const;

 private:
  std::vector<std::string> methods_;
  std::deque<CallFault> faults_ = {};
};

/// The names that `error` may have.
const std::vector<std::string>& FaultNames();

}  // namespace jobman::sim
