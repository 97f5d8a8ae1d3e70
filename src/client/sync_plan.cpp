#include "client/sync_plan.hpp"

#include <set>
#include <utility>

#include "jobman/base/hash.hpp"

namespace jobman::client {
namespace {

constexpr std::int64_t kPartBytes = std::int64_t{256} << 20;
constexpr std::size_t kPartNames = 20'000;

/// Names, divided; at least one part.
std::vector<SyncPart> Divide(const SyncTree& tree, const std::vector<std::string>& names) {
  std::vector<SyncPart> parts(1);
  std::int64_t bytes = 0;
  for (const std::string& name : names) {
    const std::int64_t more = tree.entries.at(name).size;
    const bool full = bytes + more > kPartBytes || parts.back().names.size() >= kPartNames;
    if (full && !parts.back().names.empty()) {
      parts.emplace_back();
      bytes = 0;
    }
    parts.back().names.push_back(name);
    bytes += more;
  }
  return parts;
}

/// What the last part changes in place: no record of it is true before.
std::set<std::string> ChangedLast(const SyncDifference& difference) {
  std::set<std::string> names;
  for (const auto& [mode, changed] : difference.modes) names.insert(changed.begin(), changed.end());
  for (const auto& [time, changed] : difference.times) names.insert(changed.begin(), changed.end());
  return names;
}

void AddRecords(const SyncTree& tree, const SyncDifference& difference,
                std::vector<SyncPart>& parts) {
  const std::set<std::string> late = ChangedLast(difference);
  std::set<std::string> late_records;
  for (const std::string& name : late) {
    const auto entry = tree.entries.find(name);
    if (entry != tree.entries.end()) late_records.insert(SyncRecord(name, entry->second));
  }
  const auto add = [&](SyncPart& part, std::string record) {
    SyncPart& place = late_records.contains(record) ? parts.back() : part;
    place.orders.add.push_back(std::move(record));
  };
  for (const std::string& record : difference.keep) add(parts.front(), record);
  for (SyncPart& part : parts)
    for (const std::string& name : part.names) add(part, SyncRecord(name, tree.entries.at(name)));
}

/// What each part does to the record of the host.
void OrderRecords(const SyncTree& tree, const SyncDifference& difference, const SyncState& host,
                  std::vector<SyncPart>& parts) {
  parts.front().orders.drop = difference.drop;
  AddRecords(tree, difference, parts);
  std::vector<std::string> before;
  if (difference.digest != "-") before = SyncRecords(*host.listed);
  std::set<std::string> list(before.begin(), before.end());
  std::string from = difference.digest;
  for (SyncPart& part : parts) {
    SyncOrders& orders = part.orders;
    for (const std::string& record : orders.drop) list.erase(record);
    list.insert(orders.add.begin(), orders.add.end());
    orders.from = from;
    from = base::Sha256Hex(SyncListText({list.begin(), list.end()}));
    orders.to = from;
  }
}

}  // namespace

std::shared_ptr<SyncArchive> SyncPlan::Open(const SyncTree* tree, std::size_t part) {
  SyncPart& chosen = parts[part];
  std::shared_ptr<SyncArchive> archive = chosen.archive.lock();
  if (archive) return archive;
  archive = std::make_shared<SyncArchive>(tree, chosen.names, chosen.orders);
  chosen.archive = archive;
  return archive;
}

SyncPlan PlanParts(const SyncTree& tree, SyncDifference difference, const SyncState& host,
                   bool stale) {
  SyncPlan plan;
  if (!difference.IsNothing() || !difference.recorded || stale) {
    plan.parts = Divide(tree, difference.send);
    OrderRecords(tree, difference, host, plan.parts);
    SyncOrders& first = plan.parts.front().orders;
    first.remove = difference.remove;
    first.remove_folders = difference.remove_folders;
    // At the end, since nothing can be put into a folder that is read-only.
    SyncOrders& last = plan.parts.back().orders;
    last.modes = difference.modes;
    last.times = difference.times;
    for (std::size_t part = 0; part < plan.parts.size(); ++part) {
      const auto archive = plan.Open(&tree, part);
      plan.bytes += archive->size() + std::ssize(archive->Ending(true));
    }
  }
  plan.difference = std::move(difference);
  return plan;
}

}  // namespace jobman::client
