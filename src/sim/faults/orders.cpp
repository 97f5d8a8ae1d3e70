#include "sim/faults/orders.hpp"

#include <algorithm>

#include "jobman/base/strings.hpp"
#include "sim/faults/verbs.hpp"

namespace jobman::sim {

namespace {

constexpr std::size_t kEventsKept = 1000;

base::Status CheckMembers(const Verb& verb, const Json& body) {
  const std::vector<std::string> members = Members(verb);
  if (members.empty()) return base::Ok();
  for (const auto& [name, value] : body.items()) {
    if (std::find(members.begin(), members.end(), name) != members.end()) continue;
    return base::InvalidArgument(std::string(verb.name) + " has no member \"" + name + "\"",
                                 "known: " + base::Join(members, ", "));
  }
  return base::Ok();
}

base::Result<Json> Do(const Verb& verb, Targets& targets, const Json& body, TimePoint now) {
  JM_TRY(CheckMembers(verb, body));
  return verb.act(targets, body, now);
}

}  // namespace

Reply Refused(const base::Error& error) {
  const bool absent = error.code == base::Code::kNotFound;
  return ToReply(
      {.code = absent ? base::Code::kNotFound : base::Code::kInvalidArgument,
       .message = error.hint.empty() ? error.ToString() : error.ToString() + "; " + error.hint});
}

Reply Orders::Obey(const Order& order, const std::string& line, TimePoint now) {
  const auto verb = FindVerb(order.verb);
  if (!verb.ok()) return Refused(base::NotFound(verb.error().message, verb.error().hint));
  const base::Result<Json> done = Do(**verb, targets_, order.body, now);
  Reply reply = done.ok() ? Reply{.body = *done} : Refused(done.error());
  Json event = {{"number", ++event_count_}, {"time", Timestamp(now)}, {"order", order.verb}};
  if (!line.empty()) event["line"] = line;
  if (!done.ok()) event["error"] = Text(Member(reply.body, "error"), "message");
  events_.push_back(std::move(event));
  if (events_.size() > kEventsKept) events_.pop_front();
  return reply;
}

Json Orders::Events(std::int64_t since) const {
  Json list = Json::array();
  for (const Json& event : events_) {
    if (Number(event, "number") > since) list.push_back(event);
  }
  return {{"events", std::move(list)}, {"to_come", LinesToCome()}};
}

Reply Orders::Script(const Json& body, TimePoint now) {
  const Json& lines = Member(body, "lines");
  if (!lines.is_array()) return Refused(base::InvalidArgument("a script is a list of lines"));
  std::vector<TimePoint> times;
  for (const Json& line : lines) {
    const auto after = DurationIn(line, "after", Duration{0});
    if (!after.ok()) return Refused(after.error());
    if (const auto verb = FindVerb(Text(line, "order")); !verb.ok()) return Refused(verb.error());
    times.push_back(now + *after);
  }
  const std::int64_t since = event_count_;
  for (std::size_t i = 0; i < times.size(); ++i) {
    ++targets_.lines_to_come;
    targets_.timeline.At(times[i], [this, line = lines[i], calms = targets_.calms](TimePoint due) {
      if (calms != targets_.calms) return;
      --targets_.lines_to_come;
      Obey({Text(line, "order"), Member(line, "body")}, Text(line, "line"), due);
    });
  }
  return {.body = {{"since", since}, {"to_come", LinesToCome()}}};
}

}  // namespace jobman::sim
