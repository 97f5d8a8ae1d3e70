#include "sim/faults/acts.hpp"

// Verbs that act on the service as a whole.

namespace jobman::sim::acts {

base::Result<Json> Fault(Targets& targets, const Json& body, TimePoint) {
  JM_TRY(targets.faults.Add(body));
  return Json{{"faults", targets.faults.ToJson()}};
}

base::Result<Json> Stockout(Targets& targets, const Json& body, TimePoint now) {
  JM_ASSIGN_OR_RETURN(const Duration time, DurationIn(body, "for", std::chrono::seconds(30)));
  const std::string where = Text(body, "where");
  targets.nodes.AddStockout(where.empty() ? "*" : where, now + time);
  return Json::object();
}

base::Result<Json> Unplug(Targets& targets, const Json& body, TimePoint) {
  JM_ASSIGN_OR_RETURN(const Duration time, DurationIn(body, "for", std::chrono::seconds(10)));
  targets.unplug(time);
  return Json::object();
}

base::Result<Json> Set(Targets& targets, const Json& body, TimePoint now) {
  JM_TRY(ApplySettings(targets.settings, body));
  targets.queued.Review(now);  // more stock may end a wait
  return ToJson(targets.settings);
}

base::Result<Json> Calm(Targets& targets, const Json&, TimePoint now) {
  ++targets.calms;
  targets.lines_to_come = 0;
  targets.faults.Clear();
  targets.nodes.Calm(now);
  targets.queued.Calm(now);
  return Json::object();
}

}  // namespace jobman::sim::acts
