#include <fmt/format.h>

#include "jobman/base/strings.hpp"
#include "sim/faults/acts.hpp"

// The targets of an order: names, patterns, and times.

namespace jobman::sim {

namespace {

/// An entry by its full name, or by its id if that is unique.
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

constexpr const char* kStatusHint = "`jobman-sim status` lists them";

/// What was meant, if a name is the beginning of some, as that of a job is, or a typo of one.
std::string MeantNodes(const std::vector<std::string>& ids, const std::string& name) {
  constexpr std::size_t kLongest = 200;
  std::vector<std::string> longer;
  for (const std::string& id : ids)
    if (id.starts_with(name)) longer.push_back(id);
  if (!longer.empty())
    return fmt::format("'{}*' means {}", name, base::Shorten(base::Join(longer, ", "), kLongest));
  const auto near = base::Nearest(name, ids);
  return near ? "did you mean " + *near + "?" : kStatusHint;
}

base::Error NoNode(const NodeRegistry& nodes, const std::string& name) {
  if (IsPattern(name)) return base::NotFound("there is no node like " + name, kStatusHint);
  std::vector<std::string> ids;
  std::vector<std::string> same;
  for (const auto& [key, node] : nodes.all()) {
    ids.push_back(key.id);
    if (key.id == name) same.push_back(ResourceName(key, "nodes"));
  }
  if (!same.empty()) {
    return base::NotFound("several nodes are named " + name + ", in different zones",
                          "write one of " + base::Join(same, ", "));
  }
  return base::NotFound("there is no node " + name, MeantNodes(ids, name));
}

}  // namespace

base::Error NoSuch(const std::string& what, const std::string& name) {
  return base::NotFound(fmt::format("there is no {} {}, or several in different zones", what, name),
                        kStatusHint);
}

base::Result<Duration> DurationIn(const Json& body, const std::string& name, Duration fallback) {
  const Json& value = Member(body, name);
  if (value.is_null() || value == "") return fallback;
  auto duration = base::ParseDuration(value.is_string() ? value.get<std::string>() : value.dump());
  return duration.ok() ? duration : base::Result<Duration>(std::move(duration).error().With(name));
}

std::vector<ResourceKey> Targets::NodesNamed(const std::string& name) const {
  std::vector<ResourceKey> keys;
  if (!IsPattern(name)) {
    if (const Node* node = Named(nodes.all(), "nodes", name)) keys.push_back(node->key);
    return keys;
  }
  for (const auto& [key, node] : nodes.all()) {
    if (base::GlobMatch(name, key.id)) keys.push_back(key);
  }
  return keys;
}

QueuedResource* Targets::QueuedNamed(const std::string& name) const {
  return Named(queued.all(), "queuedResources", name);
}

base::Result<Json> Targets::EachNode(const Json& body,
                                     const std::function<base::Status(Node& node)>& act) const {
  const std::string name = Text(body, "node");
  const std::vector<ResourceKey> keys = NodesNamed(name);
  if (keys.empty()) return NoNode(nodes, name);
  Json done = Json::array();
  base::Status refused = base::Ok();
  for (const ResourceKey& key : keys) {
    Node* node = nodes.Find(key);
    if (node == nullptr) continue;  // removed together with another one
    base::Status status = act(*node);
    if (status.ok()) done.push_back(ResourceName(key, "nodes"));
    if (!status.ok() && refused.ok()) refused = std::move(status);
  }
  JM_TRY(refused);
  return Json{{"nodes", std::move(done)}};
}

void Targets::At(TimePoint due, const Node& node, std::function<void(Node&, TimePoint)> event) {
  timeline.At(due, [this, key = node.key, uid = node.uid, before = calms,
                    event = std::move(event)](TimePoint at) {
    Node* found = nodes.Find(key);
    if (found != nullptr && found->uid == uid && before == calms) event(*found, at);
  });
}

}  // namespace jobman::sim
