#include "client/sync_difference.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

namespace jobman::client {
namespace {

using Entry = SyncEntry;

/// Walks the names here beside what the host has under them. What is below anything but a folder is
/// not there: it may be a link to elsewhere.
class Beside {
 public:
  explicit Beside(const SyncState& host) : host_(host) {}
  /// In the order of names. Null: nothing.
  const Entry* Find(const std::string& name) {
    const std::size_t slash = name.rfind('/');
    if (slash != std::string::npos && !folders_.contains(name.substr(0, slash))) return nullptr;
    const Entry* there = host_.Find(name);
    if (there != nullptr && there->kind == Entry::Kind::kFolder) folders_.insert(name);
    return there;
  }

 private:
  const SyncState& host_;
  std::set<std::string> folders_ = {};
};

bool MayBeEqual(const Entry& here, const Entry* there) {
  return there != nullptr && here.kind == Entry::Kind::kFile && there->kind == here.kind &&
         there->size == here.size;
}

/// Whether the host has this already, but perhaps for mode and time.
bool HasContent(const Entry& here, const Entry* there) {
  if (there == nullptr || there->kind != here.kind) return false;
  if (here.kind == Entry::Kind::kLink) return here.target == there->target;
  return here.kind == Entry::Kind::kFolder ||
         (MayBeEqual(here, there) && there->sha256 == here.sha256);
}

bool IsFolder(const Entry* entry) {
  return entry != nullptr && entry->kind == Entry::Kind::kFolder;
}

/// What no sync touches: the record, and repositories.
bool IsUntouchable(const std::string& name) {
  if (name == kSyncOwn || name.starts_with(std::string(kSyncOwn) + "/")) return true;
  const std::string framed = "/" + name + "/";
  return framed.find("/.git/") != std::string::npos;
}

void Order(const std::string& name, const Entry& here, const Entry* there, SyncDifference& all) {
  const bool folder = here.kind == Entry::Kind::kFolder;
  if (!HasContent(here, there)) {
    if (!folder && IsFolder(there)) all.remove_folders.push_back(name);
    all.send.push_back(name);
    // A folder that the host has not told of keeps its mode when the new one is merged into it.
    if (folder) all.modes[here.mode].push_back(name);
    return;
  }
  if (here.kind == Entry::Kind::kLink) return;
  const bool time = !folder && here.mtime != there->mtime;
  if (here.mode != there->mode) all.modes[here.mode].push_back(name);
  if (time) all.times[here.mtime].push_back(name);
  if (time || here.mode != there->mode) all.change.push_back(name);
}

void OrderRemovals(const SyncEntries& here, const SyncState& host,
                   const std::function<bool(const std::string&)>& removes, SyncDifference& all) {
  std::set<std::string> gone;
  for (std::string& name : OnlyThere(here, host)) {
    if (!removes(name)) continue;
    const bool folder = name.ends_with('/');
    if (folder) name.pop_back();
    gone.insert(name);
    (folder ? all.remove_folders : all.remove).push_back(std::move(name));
  }
  // A folder in which something stays does, too.
  std::set<std::string> needed;
  host.ForEach([&](const std::string& name, const Entry& /*entry*/) {
    if (gone.contains(name)) return;
    std::size_t slash = name.rfind('/');
    while (slash != std::string::npos && needed.insert(name.substr(0, slash)).second)
      slash = slash == 0 ? std::string::npos : name.rfind('/', slash - 1);
  });
  std::erase_if(all.remove_folders, [&](const std::string& name) { return needed.contains(name); });
}

/// Brings the record of the host in line with what it has once all else is done. What is sent comes
/// into it as it is sent.
void OrderRecord(const SyncEntries& here, const SyncState& host, SyncDifference& all) {
  all.digest = host.digest;
  std::vector<std::string> before = SyncRecords(*host.listed);
  std::vector<std::string> after = SyncRecords(here);
  std::sort(before.begin(), before.end());
  std::sort(after.begin(), after.end());
  std::set_difference(before.begin(), before.end(), after.begin(), after.end(),
                      std::back_inserter(all.drop));
  const std::set<std::string> old(before.begin(), before.end());
  const std::set<std::string> sent(all.send.begin(), all.send.end());
  for (const auto& [name, entry] : here) {
    const std::string record = SyncRecord(name, entry);
    const bool known = old.contains(record);
    if (sent.contains(name)) {
      // Until it has arrived, the record does not speak of it.
      if (known) all.drop.push_back(record);
    } else if (!known) {
      all.keep.push_back(record);
    }
  }
  all.recorded = host.digest != "-" && all.drop.empty() && all.keep.empty();
}

}  // namespace

const SyncEntry* SyncState::Find(const std::string& name) const {
  const auto now = found.find(name);
  if (now != found.end()) return &now->second;
  const auto then = listed->find(name);
  return then == listed->end() || gone.contains(name) ? nullptr : &then->second;
}

void SyncState::ForEach(
    const std::function<void(const std::string&, const SyncEntry&)>& see) const {
  for (const auto& [name, entry] : *listed) {
    if (!gone.contains(name) && !found.contains(name)) see(name, entry);
  }
  for (const auto& [name, entry] : found) see(name, entry);
}

SyncState StateOf(SyncLook look, std::shared_ptr<const SyncEntries> listed) {
  SyncState state;
  if (!look.digest.empty()) {
    state.digest = std::move(look.digest);
    state.listed = std::move(listed);
  }
  state.gone.insert(look.gone.begin(), look.gone.end());
  state.found = std::move(look.found);
  return state;
}

std::vector<std::string> UnsureNames(const SyncEntries& here, const SyncState& host) {
  std::vector<std::string> names;
  Beside beside(host);
  for (const auto& [name, entry] : here) {
    const Entry* there = beside.Find(name);
    if (MayBeEqual(entry, there) && there->sha256.empty()) names.push_back(name);
  }
  return names;
}

std::vector<std::string> OnlyThere(const SyncEntries& here, const SyncState& host) {
  std::vector<std::string> names;
  host.ForEach([&](const std::string& name, const Entry& entry) {
    if (here.contains(name) || IsUntouchable(name)) return;
    names.push_back(entry.kind == Entry::Kind::kFolder ? name + "/" : name);
  });
  return names;
}

SyncDifference CompareSync(const SyncEntries& here, const SyncState& host,
                           const std::function<bool(const std::string&)>& removes) {
  SyncDifference all;
  Beside beside(host);
  for (const auto& [name, entry] : here) Order(name, entry, beside.Find(name), all);
  if (removes) OrderRemovals(here, host, removes, all);
  // What is in a folder has a longer name with the same beginning.
  std::sort(all.remove_folders.rbegin(), all.remove_folders.rend());
  OrderRecord(here, host, all);
  return all;
}

}  // namespace jobman::client
