#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "client/copy_parts.hpp"
#include "client/sync_plan.hpp"
#include "jobman/client/sync.hpp"
#include "jobman/controller/file_relay.hpp"

namespace jobman::client {

/// Brings the parts of plans to hosts: from this machine, or from hosts that have them already. On
/// the loop's thread only. What it is given by pointer must outlive it.
class SyncDelivery {
 public:
  /// `directory` and `peers` as in SyncOrder. What is sent is added to `synced`; `on_bytes` is told
  /// of bytes that hosts got.
  SyncDelivery(ports::HostShell* shell, const std::vector<ssh::FanOutHost>* hosts,
               const SyncTree* tree, std::string directory, std::vector<std::string> peers,
               Synced* synced, std::function<void(std::int64_t)> on_bytes);

  /// Brings a part to the host of that row. `complete`: the host has all parts before it; false
  /// when a file changed meanwhile and was left out.
  base::Task<base::Status> Bring(std::size_t row, std::shared_ptr<SyncPlan> plan, std::size_t part,
                                 bool* complete);
  /// Removes what hosts kept for others, within five seconds. Where that fails, a later sync does.
  base::Task<bool> ForgetAll();
  /// Names of files that changed while they were read.
  const std::set<std::string>& changed() const { return changed_; }

 private:
  using Words = std::vector<std::string>;
  using Source = controller::FileRelay::Source;
  using Turn = controller::FileRelay::Turn;
  struct Applied {
    base::Result<int> code = 0;
    std::optional<Source> kept = {};
  };
  base::Task<Applied> Send(std::size_t row, std::shared_ptr<SyncArchive> archive, bool complete,
                           Turn* turn);
  /// Whether the host has it now. That it was not given the archive is no error: it is sent it.
  base::Task<base::Result<bool>> Fetch(std::size_t row,
                                       std::shared_ptr<controller::FileRelay> relay, Turn* turn);
  base::Task<Applied> Apply(std::size_t row, ports::RemoteCommand command, std::string id);
  base::Status ApplyEnd(std::size_t row, const base::Result<int>& code);
  /// Before the host keeps one more archive: removes its oldest if it keeps three.
  base::Task<void> ForgetOldest(std::size_t row);
  base::Task<void> Forget(std::size_t row, Words ids);

  ports::HostShell* shell_;
  const std::vector<ssh::FanOutHost>* hosts_;
  const SyncTree* tree_;
  const std::string directory_;
  const std::vector<std::string> peers_;
  Synced* synced_;
  const std::function<void(std::int64_t)> on_bytes_;
  HostTalk talk_ = {};
  struct KeptArchive {
    std::string id = {};
    std::shared_ptr<controller::FileRelay> relay = {};
  };
  std::map<std::size_t, std::deque<KeptArchive>> kept_ = {};  ///< by row
  std::set<std::string> changed_ = {};
};

/// The SHA-256 that a host says of the archive that it kept as `id`; empty if it says none.
std::string KeptSha256(std::string_view answer, const std::string& id);

}  // namespace jobman::client
