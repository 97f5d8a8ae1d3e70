#pragma once

#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "controller/vm_names.hpp"
#include "jobman/controller/controller.hpp"
#include "jobman/core/ssh_config.hpp"

namespace jobman::controller {

/// Keeps the files that the OpenSSH client reads (StatePaths::SshConfig() and its keys) as the jobs
/// are: names of hosts come with a job's slice, follow its machines, and go with it. Many changes
/// share one writing, which runs off the loop. It writes only what has changed. A cloud that does
/// not say what its VMs are called costs the names of its own job alone.
class SshConfigKeeper {
 public:
  /// `may_write`: whether this controller still holds the lease. It does nothing unless
  /// Options::ssh_config says so.
  SshConfigKeeper(asio::io_context& loop, const Ports& ports, const Options& options,
                  Clouds& clouds, std::function<bool()> may_write);

  /// Reads which jobs hold hosts, also of those that are over, and writes.
  void Start();
  /// A job as it was just recorded.
  void Take(const core::Job& job);
  /// A job whose record was erased, or cannot be used.
  void Forget(core::JobId id);
  /// Whether all that is known is written, for `tick`.
  bool Quiet() const;

 private:
  struct Entry {
    std::shared_ptr<core::SshJob> hosts = {};
    std::string state = {};  ///< of the job: keys are pinned when stages begin
    bool read = false;       ///< its keys were looked up
    std::shared_ptr<const core::Job> names_vms = {};  ///< the job, if a proxy asks for VMs' names
    bool asking = false;                              ///< its cloud is being asked for them
  };
  using EntryPtr = std::shared_ptr<Entry>;  ///< replaced, not changed, when the job changes
  using Jobs = std::map<core::JobId, EntryPtr>;
  /// What the files are written from: while it is the same, so are they.
  using Basis = std::vector<core::SshJob>;
  struct Writing;

  static base::Task<void> Loop(SshConfigKeeper* self);
  base::Task<base::Status> ReadHeld();
  base::Task<void> WaitForChange();
  base::Task<void> WriteAll();
  base::Task<base::Status> FindKeys(Jobs jobs);
  void AskForNames();
  static base::Task<void> NameVms(SshConfigKeeper* self, EntryPtr entry);
  base::Task<base::Status> FindNames(EntryPtr entry);
  bool IsCurrent(const EntryPtr& entry) const;
  void ForgetNames(const EntryPtr& entry);
  void Drop(core::JobId id);
  base::Task<void> Write(Jobs jobs);
  void Changed();

  asio::io_context& loop_;
  const Ports& ports_;
  const Options& options_;
  VmNames vms_;
  std::function<bool()> may_write_;
  asio::steady_timer wake_;
  Jobs jobs_ = {};
  std::set<core::JobId> heard_of_ = {};  ///< until the others have been read
  bool started_ = false;
  bool held_read_ = false;
  bool changed_ = false;
  bool working_ = false;
  int asking_ = 0;           ///< jobs whose clouds are asked for names
  bool incomplete_ = false;  ///< keys or names are missing, or nothing could be written
  base::Duration next_look_ = {};
  std::string trouble_ = {};                   ///< the last that was said
  std::shared_ptr<const Basis> written_ = {};  ///< nothing: it is not known what the files say
  base::CancelScope scope_ = {};
};

}  // namespace jobman::controller
