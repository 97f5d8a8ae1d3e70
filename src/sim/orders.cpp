#include "sim/orders.hpp"

#include <fmt/format.h>

#include "jobman/base/strings.hpp"

namespace jobman::sim {

using base::InvalidArgument;

namespace {

constexpr std::size_t kEventsKept = 1000;

/// An entry by its full name, or by its id when only one has it.
template <class T>
T* Named(std::map<ResourceKey, T>& all, const std::string& collection, const std::string& name) {
  T* found = nullptr;
  for (auto& [key, entry] : all) {
    if (ResourceName(key, collection) == name) return &entry;
    if (key.id != name) continue;
    if (found != nullptr) return nullptr;
    found = &entry;
  }
  return found;
}

bool IsPattern(const std::string& name) {
  return name.find_first_of("*?") != std::string::npos;
}

}  // namespace

Reply Refused(const base::Error& error) {
  return ToReply(
      {.code = base::Code::kInvalidArgument,
       .message = error.hint.empty() ? error.ToString() : error.ToString() + "; " + error.hint});
}

Reply NoSuch(const std::string& what, const std::string& name) {
  return ToReply({.code = base::Code::kNotFound,
                  .message = fmt::format("there is no {} {}, or several in different zones; "
                                         "`jobman-sim status` lists them",
                                         what, name)});
}

base::Result<Duration> DurationIn(const Json& body, const std::string& name, Duration fallback) {
  const Json& value = Member(body, name);
  if (value.is_null() || value == "") return fallback;
  auto duration = base::ParseDuration(value.is_string() ? value.get<std::string>() : value.dump());
  return duration.ok() ? duration : base::Result<Duration>(std::move(duration).error().With(name));
}

const std::map<std::string, Orders::Order>& Orders::All() {
  static const std::map<std::string, Order> kAll = {
      {"preempt", &Orders::Preempt},
      {"maintain", &Orders::Maintain},
      {"repair", &Orders::Repair},
      {"terminate", &Orders::Terminate},
      {"stop", &Orders::Stop},
      {"start", &Orders::Start},
      {"delete", &Orders::Delete},
      {"fail", &Orders::Fail},
      {"host", &Orders::Host},
      {"node", &Orders::ShowNode},
      {"stockout", &Orders::Stockout},
      {"unplug", &Orders::Unplug},
      {"calm", &Orders::Calm},
      {"faults", &Orders::AddFault},
      {"settings", &Orders::ChangeSettings},
      {"script", &Orders::Script},
  };
  return kAll;
}

Reply Orders::Obey(const std::string& name, const Json& body, const std::string& line,
                   TimePoint now) {
  const auto order = All().find(name);
  if (order == All().end()) return NoSuch("order", name);
  Reply reply = (this->*order->second)(body, now);
  Json event = {{"number", ++event_count_}, {"time", Timestamp(now)}, {"order", name}};
  if (!line.empty()) event["line"] = line;
  if (reply.status != 200) event["error"] = Text(Member(reply.body, "error"), "message");
  events_.push_back(std::move(event));
  if (events_.size() > kEventsKept) events_.pop_front();
  return reply;
}

Json Orders::Events(std::int64_t since) const {
  Json list = Json::array();
  for (const Json& event : events_) {
    if (Number(event, "number") > since) list.push_back(event);
  }
  return {{"events", std::move(list)}, {"to_come", to_come_}};
}

Reply Orders::Script(const Json& body, TimePoint now) {
  const Json& lines = Member(body, "lines");
  if (!lines.is_array()) return Refused(InvalidArgument("a script is a list of lines"));
  std::vector<TimePoint> times;
  for (const Json& line : lines) {
    const auto after = DurationIn(line, "after", Duration{0});
    if (!after.ok()) return Refused(after.error());
    if (!All().contains(Text(line, "order"))) return NoSuch("order", Text(line, "order"));
    times.push_back(now + *after);
  }
  for (std::size_t i = 0; i < times.size(); ++i) {
    ++to_come_;
    parts_.timeline.At(times[i], [this, line = lines[i], calms = calms_](TimePoint due) {
      if (calms != calms_) return;
      --to_come_;
      Obey(Text(line, "order"), Member(line, "body"), Text(line, "line"), due);
    });
  }
  return {.body = {{"since", event_count_ + 1}, {"to_come", to_come_}}};
}

std::vector<ResourceKey> Orders::NodesNamed(const std::string& name) const {
  std::vector<ResourceKey> keys;
  if (!IsPattern(name)) {
    if (const Node* node = Named(parts_.nodes.all(), "nodes", name)) keys.push_back(node->key);
    return keys;
  }
  for (const auto& [key, node] : parts_.nodes.all()) {
    if (base::GlobMatch(name, key.id)) keys.push_back(key);
  }
  return keys;
}

QueuedResource* Orders::QueuedNamed(const std::string& name) {
  return Named(parts_.queued.all(), "queuedResources", name);
}

Reply Orders::EachNode(const Json& body, const NodeAct& act) {
  const std::string name = Text(body, "node");
  const std::vector<ResourceKey> keys = NodesNamed(name);
  if (keys.empty() && IsPattern(name)) return NoSuch("node like", name);
  if (keys.empty()) return NoSuch("node", name);
  Json done = Json::array();
  std::optional<base::Error> refused;
  for (const ResourceKey& key : keys) {
    Node* node = parts_.nodes.Find(key);
    if (node == nullptr) continue;  // the act on another one took it along
    const base::Status status = act(*node);
    if (status.ok()) done.push_back(ResourceName(key, "nodes"));
    if (!status.ok() && !refused) refused = status.error();
  }
  if (refused) return Refused(*refused);
  return {.body = {{"nodes", std::move(done)}}};
}

void Orders::At(TimePoint due, const Node& node, std::function<void(Node&, TimePoint)> event) {
  parts_.timeline.At(due, [this, key = node.key, uid = node.uid, calms = calms_,
                           event = std::move(event)](TimePoint at) {
    Node* found = parts_.nodes.Find(key);
    if (found != nullptr && found->uid == uid && calms == calms_) event(*found, at);
  });
}

Reply Orders::AddFault(const Json& body, TimePoint) {
  const auto added = parts_.faults.Add(body);
  return added.ok() ? Reply{.body = {{"faults", parts_.faults.ToJson()}}} : Refused(added.error());
}

Reply Orders::ChangeSettings(const Json& body, TimePoint now) {
  const auto applied = ApplySettings(parts_.settings, body);
  if (!applied.ok()) return Refused(applied.error());
  parts_.queued.Review(now);  // new stock may end a wait
  return {.body = ToJson(parts_.settings)};
}

Reply Orders::Stockout(const Json& body, TimePoint now) {
  const auto time = DurationIn(body, "for", std::chrono::seconds(30));
  if (!time.ok()) return Refused(time.error());
  const std::string where = Text(body, "where").empty() ? "*" : Text(body, "where");
  parts_.nodes.DryUp(where, now + *time);
  return {};
}

Reply Orders::Unplug(const Json& body, TimePoint) {
  const auto time = DurationIn(body, "for", std::chrono::seconds(10));
  if (!time.ok()) return Refused(time.error());
  unplug_(*time);
  return {};
}

Reply Orders::Calm(const Json&, TimePoint now) {
  ++calms_;
  to_come_ = 0;
  parts_.faults.Clear();
  parts_.nodes.Calm(now);
  parts_.queued.Calm(now);
  return {};
}

}  // namespace jobman::sim
