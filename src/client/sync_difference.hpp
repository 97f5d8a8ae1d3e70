#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "client/sync_list.hpp"

namespace jobman::client {

/// The folder of a host's own record, below the folder that is kept equal.
inline constexpr std::string_view kSyncOwn = ".jobman-sync";

/// What a host has, as far as it is known. Hosts that kept the same record share its list.
struct SyncState {
  std::string digest = "-";  ///< of the record that it keeps; "-": none
  std::shared_ptr<const SyncEntries> listed = std::make_shared<SyncEntries>();
  std::set<std::string> gone = {};  ///< what is not there any more as that list has it
  SyncEntries found = {};           ///< what is there instead; a file may have no hash

  /// Null: nothing.
  const SyncEntry* Find(const std::string& name) const;
  /// Calls `see` with each name and what is there.
  void ForEach(const std::function<void(const std::string&, const SyncEntry&)>& see) const;
};

/// What `look` said, with the list that it refers to.
SyncState StateOf(SyncLook look, std::shared_ptr<const SyncEntries> listed);

/// What makes a host's folder equal to the one here.
struct SyncDifference {
  std::vector<std::string> send = {};    ///< folders, links and files, a folder before its content
  std::vector<std::string> change = {};  ///< files and folders of which only mode or time differ
  std::vector<std::string> remove = {};  ///< files, links and others
  std::vector<std::string> remove_folders = {};  ///< each after those in it, if they are empty then
  std::map<unsigned, std::vector<std::string>> modes = {};
  std::map<std::int64_t, std::vector<std::string>> times = {};
  std::vector<std::string> drop = {};  ///< records that the host's list must lose
  std::vector<std::string> keep = {};  ///< records that it must gain, of what is not sent
  std::string digest = "-";            ///< of the list that these are for
  bool recorded = true;                ///< the list is what it should be already

  /// Nothing that a user would see differs.
  bool IsNothing() const {
    return send.empty() && change.empty() && remove.empty() && remove_folders.empty();
  }
};

/// Names of files that may be equal: the host must hash them before CompareSync().
std::vector<std::string> UnsureNames(const SyncEntries& here, const SyncState& host);
/// Names that only the host has, with a slash after those of folders.
std::vector<std::string> OnlyThere(const SyncEntries& here, const SyncState& host);

/// Compares. A file whose hash is not known differs. `removes` says of a name of OnlyThere()
/// whether it is to go; empty: none goes.
SyncDifference CompareSync(const SyncEntries& here, const SyncState& host,
                           const std::function<bool(const std::string&)>& removes);

}  // namespace jobman::client
