#include "sim/cloud/node_registry.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "jobman/base/strings.hpp"

namespace jobman::sim {

namespace {

/// Cloud TPU's host names look like "t1v-n-0123abcd-w-0". Ids may contain characters that host
/// names may not, and host names have at most 64.
std::string HostNameStem(const std::string& id) {
  std::string stem = "t1v-n-" + base::ToLower(id.substr(0, 40));
  for (char& c : stem) {
    if ((c < 'a' || c > 'z') && (c < '0' || c > '9')) c = '-';
  }
  return stem + "-w-";
}

bool WantsExternal(const Json& spec) {
  const Json& network = Member(spec, "networkConfig");
  return !network.is_object() || Flag(network, "enableExternalIps");
}

/// Under OS Login hosts let in nobody by the keys of metadata, but those of login profiles. A
/// node's own word counts more than the project's. Source: Compute Engine documentation, "Set up OS
/// Login".
bool HasOsLogin(const Metadata& node, const Metadata& project) {
  const auto own = node.find("enable-oslogin");
  const auto common = project.find("enable-oslogin");
  if (own != node.end()) return base::ToLower(own->second) == "true";
  return common != project.end() && base::ToLower(common->second) == "true";
}

}  // namespace

Node* NodeRegistry::Find(const ResourceKey& key) {
  const auto found = nodes_.find(key);
  return found == nodes_.end() ? nullptr : &found->second;
}

Node* NodeRegistry::FindByUid(const std::string& uid) {
  for (auto& [key, node] : nodes_) {
    if (node.uid == uid) return &node;
  }
  return nullptr;
}

std::string NodeRegistry::NextAddress(int first_block) {
  const std::uint32_t n = address_count_;
  return fmt::format("127.{}.{}.{}", first_block + static_cast<int>((n / 63500) % 100),
                     (n / 250) % 254, 1 + n % 250);
}

void NodeRegistry::AddHosts(Node& node) {
  const Metadata metadata = HostMetadata(node);
  std::string stem = HostNameStem(node.key.id);
  // A second node of the same name must not find the disks, processes and logs of the first.
  if (!stems_.insert(stem).second) stem = HostNameStem(node.uid);
  for (int i = 0; i < node.shape.hosts; ++i) {
    ++address_count_;
    NodeHost host;
    host.plan = {.name = stem + std::to_string(i),
                 .internal_ip = NextAddress(kInternalBlock),
                 .external_ip = WantsExternal(node.spec) ? NextAddress(kExternalBlock) : "",
                 .metadata = metadata};
    host.public_key = context_.fleet.Create(host.plan);
    node.hosts.push_back(std::move(host));
  }
}

Metadata NodeRegistry::HostMetadata(const Node& node) const {
  Metadata metadata = MetadataOf(node.spec);
  const Metadata& project = MetadataOfProject(node.key.project).items;
  if (HasOsLogin(metadata, project)) {
    metadata.erase("ssh-keys");
    if (!profile_keys_.empty()) metadata["ssh-keys"] = base::Join(profile_keys_, "\n");
    return metadata;
  }
  const auto keys = project.find("ssh-keys");
  const bool blocked = base::ToLower(metadata["block-project-ssh-keys"]) == "true";
  if (metadata["block-project-ssh-keys"].empty()) metadata.erase("block-project-ssh-keys");
  if (keys == project.end() || blocked) return metadata;
  std::string& own = metadata["ssh-keys"];
  own += (own.empty() ? "" : "\n") + keys->second;
  return metadata;
}

void NodeRegistry::UpdateHosts(Node& node) {
  const Metadata metadata = HostMetadata(node);
  for (NodeHost& host : node.hosts) {
    if (host.plan.metadata == metadata) continue;
    host.plan.metadata = metadata;
    context_.fleet.UpdateMetadata(host.plan.name, metadata);
  }
}

void NodeRegistry::UpdateAddresses(Node& node) {
  const bool wanted = WantsExternal(node.spec);
  for (NodeHost& host : node.hosts) {
    if (wanted != host.plan.external_ip.empty()) continue;
    ++address_count_;
    host.plan.external_ip = wanted ? NextAddress(kExternalBlock) : "";
  }
}

const ProjectMetadata& NodeRegistry::MetadataOfProject(const std::string& project) const {
  static const ProjectMetadata kNone;
  const auto found = projects_.find(project);
  return found == projects_.end() ? kNone : found->second;
}

void NodeRegistry::SetProjectMetadata(const std::string& project, Metadata items) {
  ProjectMetadata& metadata = projects_[project];
  metadata.items = std::move(items);
  ++metadata.changes;
  for (auto& [key, node] : nodes_) {
    if (key.project == project) UpdateHosts(node);
  }
  guest_changed_();
}

void NodeRegistry::AddProfileKey(const std::string& line) {
  if (std::find(profile_keys_.begin(), profile_keys_.end(), line) != profile_keys_.end()) return;
  profile_keys_.push_back(line);
  for (auto& [key, node] : nodes_) UpdateHosts(node);
  guest_changed_();
}

Node& NodeRegistry::Add(const NodePlan& plan, Duration delay, TimePoint now) {
  Node node{plan};
  // Different from those of earlier simulators, whose host keys may be pinned.
  node.uid = std::to_string(base::ToMillis(now) * 1'000'000 + 7919 * uid_count_++);
  if (plan.spot) node.spec["schedulingConfig"]["spot"] = true;
  if (const auto shape = ShapeOf(node.spec, plan.key.zone, context_.settings.types); shape.ok())
    node.shape = *shape;
  node.spot = plan.spot || IsSpot(node.spec);
  node.created = now;
  Node& added = nodes_[plan.key] = std::move(node);
  if (added.error) {
    Later(added, now + delay, [this](Node& failed, TimePoint due) {
      context_.operations.Fail(failed.operation, *failed.error, due);
      Erase(failed.key, due);
    });
    return added;
  }
  AddHosts(added);
  Boot(added, delay, now);
  return added;
}

Operations::Key NodeRegistry::Begin(const Node& node, const char* verb, const std::string& version,
                                    TimePoint now) {
  return context_.operations.Begin({.where = node.key,
                                    .verb = verb,
                                    .target = ResourceName(node.key, "nodes"),
                                    .version = version,
                                    .metadata = context_.settings.guesses.operation_metadata},
                                   now);
}

Operations::Key NodeRegistry::Create(const NodePlan& plan, TimePoint now) {
  Node& node = Add(plan, context_.settings.delays.create, now);
  node.operation = Begin(node, "create", plan.version, now);
  return node.operation;
}

void NodeRegistry::SetState(Node& node, NodeState state, TimePoint now) {
  node.state = state;
  changed_(now);
}

void NodeRegistry::Later(const Node& node, TimePoint due,
                         std::function<void(Node&, TimePoint)> event) {
  const auto guarded = [this, key = node.key, uid = node.uid, change = node.change,
                        event = std::move(event)](TimePoint at) {
    Node* found = Find(key);
    if (found != nullptr && found->uid == uid && found->change == change) event(*found, at);
  };
  context_.timeline.At(due, guarded);
}

void NodeRegistry::Remove(Node& node, TimePoint now) {
  if (node.state == NodeState::kDeleting) return;
  Abort(node, now);
  PowerOff(node);
  Later(node, now + context_.settings.delays.remove,
        [this](Node& gone, TimePoint due) { Erase(gone.key, due); });
  SetState(node, NodeState::kDeleting, now);
}

Operations::Key NodeRegistry::Delete(Node& node, const std::string& version, TimePoint now) {
  Operations::Key operation = Begin(node, "delete", version, now);
  const TimePoint due = now + context_.settings.delays.remove;
  Remove(node, now);
  context_.timeline.At(due, [this, operation](TimePoint at) {
    context_.operations.Succeed(operation, EmptyResponse(), at);
  });
  return operation;
}

void NodeRegistry::Erase(ResourceKey key, TimePoint now) {
  Node* node = Find(key);
  if (node == nullptr) return;
  for (const NodeHost& host : node->hosts) context_.fleet.Destroy(host.plan.name);
  nodes_.erase(key);
  changed_(now);
}

bool NodeRegistry::HasCapacity(const core::Accelerator& shape, const std::string& zone,
                               int count) const {
  for (const auto& [where, until] : stockouts_) {
    if (base::GlobMatch(where, zone + "/" + shape.type) ||
        base::GlobMatch(where, zone + "/" + shape.generation)) {
      return false;
    }
  }
  const auto& stock = context_.settings.stock;
  for (const std::string& key : {zone + "/" + shape.type, zone + "/" + shape.generation,
                                 "*/" + shape.type, "*/" + shape.generation}) {
    const auto limit = stock.find(key);
    if (limit == stock.end()) continue;
    const bool by_type = key.ends_with("/" + shape.type);
    std::int64_t used = 0;
    for (const auto& [name, node] : nodes_) {
      const bool same =
          by_type ? node.shape.type == shape.type : node.shape.generation == shape.generation;
      if (same && name.zone == zone && HoldsChips(node.state) && !node.error)
        used += node.shape.chips;
    }
    return used + std::int64_t{shape.chips} * count <= limit->second;
  }
  return true;
}

}  // namespace jobman::sim
