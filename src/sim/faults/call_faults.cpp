#include "sim/faults/call_faults.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include "jobman/base/strings.hpp"

namespace jobman::sim {

using base::Code;

namespace {

using Kind = CallFault::Kind;

/// The errors name a fixed zone and project, whatever the call's are.
const std::map<std::string, CallFault>& Named() {
  static const std::map<std::string, CallFault> kNamed = [] {
    std::map<std::string, CallFault> named;
    const auto add = [&](const char* name, Kind kind, ApiError error) {
      named[name] = {.kind = kind, .error = std::move(error), .name = name};
    };
    add("stockout", Kind::kOperation, StockoutError("us-central2-b"));
    add("opaque", Kind::kOperation, OpaqueError());
    add("reservation", Kind::kOperation, NoReservationError());
    add("quota", Kind::kRefuse,
        QuotaError("TPUV4sPodPerProjectPerZoneForTPUAPI", 0, "us-central2-b", "100000000000"));
    add("quota_full", Kind::kRefuse,
        QuotaError("TPUV4sPodPerProjectPerZoneForTPUAPI", 32, "us-central2-b", "100000000000"));
    add("rate_limit", Kind::kRefuse, RateLimitError("requests", "100000000000"));
    add("denied", Kind::kRefuse, PermissionError("tpu.nodes.create", "projects/p"));
    add("api_disabled", Kind::kRefuse, ApiDisabledError("p"));
    add("bad_type", Kind::kRefuse, BadTypeError("v4-8", "us-central2-b"));
    add("bad_zone", Kind::kRefuse, BadZoneError("us-central2-b"));
    add("bad_runtime", Kind::kRefuse, BadRuntimeError("tpu-ubuntu2204-base", "us-central2-b"));
    add("zone_denied", Kind::kRefuse, ZoneNotAllowedError("us-central2-b", "100000000000"));
    add("unauthenticated", Kind::kRefuse, UnauthenticatedError("ACCESS_TOKEN_EXPIRED"));
    add("not_found", Kind::kRefuse, NotFoundError("projects/p/locations/z/nodes/n"));
    add("internal", Kind::kRefuse,
        {.code = Code::kInternal, .message = "Internal error encountered."});
    add("unavailable", Kind::kRefuse,
        {.code = Code::kUnavailable, .message = "The service is currently unavailable."});
    add("drop_request", Kind::kDropRequest, {});
    add("drop_reply", Kind::kDropReply, {});
    add("taken", Kind::kTaken, {});
    add("waits_forever", Kind::kWait, {});
    add("provisions_forever", Kind::kProvision, {});
    add("gives_up", Kind::kGiveUp, OpaqueError());
    add("list_empty", Kind::kListNone, {});
    add("list_part", Kind::kListPart, {});
    add("list_unreachable", Kind::kListSilent, {});
    add("list_lost", Kind::kListLost, {});
    add("list_foreign", Kind::kListForeign, {});
    add("list_moved", Kind::kListMoved, {});
    return named;
  }();
  return kNamed;
}

base::Result<CallFault> FromError(const Json& error) {
  if (error.is_string()) {
    const auto found = Named().find(error.get<std::string>());
    if (found != Named().end()) return found->second;
    return base::InvalidArgument("there is no error " + error.dump(),
                                 "known: " + base::Join(FaultNames(), ", "));
  }
  const auto code = Number(error, "code");
  if (code < 1 || code > 16) {
    return base::InvalidArgument(
        "error is a name or an object with a code of 1 to 16 and a message");
  }
  return CallFault{.kind = Flag(error, "operation") ? Kind::kOperation : Kind::kRefuse,
                   .error = {.code = static_cast<Code>(code), .message = Text(error, "message")},
                   .name = "code " + std::to_string(code)};
}

bool IsOfLists(Kind kind) {
  return kind == Kind::kListNone || kind == Kind::kListPart || kind == Kind::kListSilent ||
         kind == Kind::kListLost || kind == Kind::kListForeign || kind == Kind::kListMoved;
}

/// Whether calls of other methods than listings match the pattern, as far as can be said.
bool IsListPattern(const std::string& method) {
  return method == "*" || method.ends_with(".list") || method.ends_with("*");
}

}  // namespace

const std::vector<std::string>& FaultNames() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names;
    for (const auto& [name, fault] : Named()) names.push_back(name);
    return names;
  }();
  return kNames;
}

base::Status CallFaults::Add(const Json& order) {
  JM_ASSIGN_OR_RETURN(CallFault fault, FromError(Member(order, "error")));
  fault.method = Text(order, "method");
  if (fault.method.empty())
    return base::InvalidArgument("a fault needs a method, for example nodes.create");
  const bool known = std::any_of(methods_.begin(), methods_.end(), [&](const std::string& method) {
    return base::GlobMatch(fault.method, method);
  });
  if (!known) {
    return base::InvalidArgument("no method is named " + fault.method,
                                 "known: " + base::Join(methods_, ", "));
  }
  if (IsOfLists(fault.kind) && !IsListPattern(fault.method)) {
    return base::InvalidArgument(fault.name + " is a fault of listings",
                                 "for example of nodes.list or queuedResources.list");
  }
  fault.times = order.contains("times") ? Number(order, "times") : 1;
  fault.retry_after = Text(order, "retry_after");
  faults_.push_back(std::move(fault));
  return base::Ok();
}

std::optional<CallFault> CallFaults::Take(const std::string& method) {
  for (auto fault = faults_.begin(); fault != faults_.end(); ++fault) {
    if (!base::GlobMatch(fault->method, method)) continue;
    if (IsOfLists(fault->kind) && !method.ends_with(".list")) continue;
    CallFault taken = *fault;
    if (--fault->times <= 0) faults_.erase(fault);
    return taken;
  }
  return std::nullopt;
}

Json CallFaults::ToJson() const {
  Json list = Json::array();
  for (const CallFault& fault : faults_) {
    list.push_back({{"method", fault.method}, {"times", fault.times}, {"error", fault.name}});
  }
  return list;
}

}  // namespace jobman::sim
