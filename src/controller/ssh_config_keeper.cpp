#include "controller/ssh_config_keeper.hpp"

#include <algorithm>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>
#include <cstddef>
#include <filesystem>
#include <utility>

#include "jobman/base/log.hpp"
#include "jobman/base/off_loop.hpp"
#include "jobman/controller/ssh_aliases.hpp"
#include "jobman/controller/times.hpp"
#include "jobman/core/ssh_way.hpp"

namespace jobman::controller {
namespace {

/// What is known of machines that are the same.
void KeepWhatIsKnown(const core::SshJob& before, core::SshJob& now) {
  for (std::size_t at = 0; at < std::min(before.hosts.size(), now.hosts.size()); ++at) {
    if (before.hosts[at].identity != now.hosts[at].identity) continue;
    now.hosts[at].key = before.hosts[at].key;
    now.hosts[at].vm_name = before.hosts[at].vm_name;
  }
}

bool SameNodes(const core::Job& one, const core::Job& other) {
  const auto uid_of = [](const core::SliceNode& node) { return node.uid; };
  return one.slice && other.slice &&
         std::ranges::equal(one.slice->nodes, other.slice->nodes, {}, uid_of, uid_of);
}

bool LacksKeys(const core::SshJob& job) {
  return std::any_of(job.hosts.begin(), job.hosts.end(),
                     [](const core::SshHost& host) { return !host.key; });
}

/// How many hosts are not named, as their cloud has not said what their VMs are called.
std::ptrdiff_t CountNameless(const core::SshJob& job) {
  return std::count_if(job.hosts.begin(), job.hosts.end(),
                       [](const core::SshHost& host) { return host.vm_name.empty(); });
}

}  // namespace

/// Runs in a thread that may outlive everybody else.
struct SshConfigKeeper::Writing {
  base::StatePaths paths = {};
  Basis jobs = {};
  std::shared_ptr<const Basis> before = {};
  std::shared_ptr<const Basis> now = {};
  base::Status status = base::Ok();

  void Work() {
    now = std::make_shared<const Basis>(WithKeysOnDisk(std::move(jobs)));
    if (before && *before == *now) return;
    const core::SshConfig config = SshConfigOf(paths, *now);
    std::error_code ignored;
    const bool needless =
        config.names.empty() && !std::filesystem::exists(paths.SshConfig(), ignored);
    if (!needless) status = WriteSshConfig(paths, config);
  }
};

SshConfigKeeper::SshConfigKeeper(asio::io_context& loop, const Ports& ports, const Options& options,
                                 Clouds& clouds, std::function<bool()> may_write)
    : loop_(loop),
      ports_(ports),
      options_(options),
      vms_(ports, clouds),
      may_write_(std::move(may_write)),
      wake_(loop) {}

void SshConfigKeeper::Start() {
  if (!options_.ssh_config || started_) return;
  started_ = true;
  Changed();
  base::Spawn(loop_.get_executor(), scope_, Loop(this));
}

bool SshConfigKeeper::Quiet() const {
  return !started_ || (!changed_ && !working_ && asking_ == 0);
}

void SshConfigKeeper::Changed() {
  changed_ = true;
  next_look_ = kFirstLookAtKeys;
  wake_.cancel();
}

/// Of machines that are gone no name is kept.
void SshConfigKeeper::ForgetNames(const EntryPtr& entry) {
  if (!entry || !entry->names_vms) return;
  for (const core::SliceNode& node : entry->names_vms->slice->nodes) vms_.Forget(node.uid);
}

void SshConfigKeeper::Drop(core::JobId id) {
  const auto known = jobs_.find(id);
  if (known == jobs_.end()) return;
  ForgetNames(known->second);
  jobs_.erase(known);
  Changed();
}

void SshConfigKeeper::Take(const core::Job& job) {
  if (!options_.ssh_config) return;
  if (!held_read_) heard_of_.insert(job.id);
  auto made = SshJobOf(job, ports_.ssh_port(job.spec.cloud));
  if (!made) {
    Drop(job.id);
    return;
  }
  EntryPtr& known = jobs_[job.id];
  if (known) KeepWhatIsKnown(*known->hosts, *made);
  const std::string state(core::StateName(job.state));
  if (known && known->state == state && *known->hosts == *made) return;
  const bool moved = known && known->names_vms && !SameNodes(*known->names_vms, job);
  if (moved) ForgetNames(known);
  known = std::make_shared<Entry>();
  if (core::NamesVm(made->proxy_command)) known->names_vms = std::make_shared<core::Job>(job);
  known->hosts = std::make_shared<core::SshJob>(*std::move(made));
  known->state = state;
  Changed();
}

void SshConfigKeeper::Forget(core::JobId id) {
  if (!held_read_) heard_of_.insert(id);
  Drop(id);
}

base::Task<void> SshConfigKeeper::Loop(SshConfigKeeper* self) {
  while (true) {
    co_await self->WaitForChange();
    self->working_ = true;
    co_await base::Sleep(kGatherSshConfig);
    self->changed_ = false;
    self->incomplete_ = false;
    const auto read = co_await self->ReadHeld();
    if (!read.ok()) self->incomplete_ = true;  // nothing is taken away before that is known
    if (read.ok()) co_await self->WriteAll();
    self->working_ = false;
  }
}

/// Writes the jobs whose keys were read, though there may be others by then: without its pinned key
/// a host would be one that nobody has visited yet, whose first key the client believes. So while
/// the store fails, the files stay as they are.
base::Task<void> SshConfigKeeper::WriteAll() {
  Jobs jobs = jobs_;
  const auto read = co_await FindKeys(jobs);
  if (read.ok()) co_await Write(std::move(jobs));
  AskForNames();
}

/// Of hosts without a key, until they have one: less and less often.
base::Task<void> SshConfigKeeper::WaitForChange() {
  if (changed_) co_return;
  wake_.expires_at(asio::steady_timer::time_point::max());
  if (incomplete_) {
    wake_.expires_after(next_look_);
    next_look_ = std::min(2 * next_look_, kLongestLookAtKeys);
  }
  std::error_code woken;
  co_await wake_.async_wait(asio::redirect_error(asio::use_awaitable, woken));
  co_await base::EndIfCancelled();
}

/// The book has the active jobs; others may hold a slice, too.
base::Task<base::Status> SshConfigKeeper::ReadHeld() {
  if (held_read_) co_return base::Ok();
  JM_CO_ASSIGN_OR_RETURN(const auto held, co_await JobsWithHosts(ports_.stores.jobs, heard_of_));
  for (const core::Job& job : held) {
    if (!heard_of_.contains(job.id)) Take(job);
  }
  held_read_ = true;
  heard_of_.clear();
  changed_ = false;
  co_return base::Ok();
}

base::Task<base::Status> SshConfigKeeper::FindKeys(Jobs jobs) {
  base::Status read = base::Ok();
  for (const auto& [id, entry] : jobs) {
    const bool all = !std::exchange(entry->read, true);
    if (!all && !LacksKeys(*entry->hosts)) continue;
    const auto found = co_await FindPinnedKeys(ports_.stores.host_keys, entry->hosts, all);
    incomplete_ = incomplete_ || !found.ok() || LacksKeys(*entry->hosts);
    if (found.ok()) continue;
    entry->read = !all;
    read = found;
  }
  co_return read;
}

void SshConfigKeeper::AskForNames() {
  for (const auto& [id, entry] : jobs_) {
    if (!entry->names_vms || CountNameless(*entry->hosts) == 0) continue;
    incomplete_ = true;
    if (std::exchange(entry->asking, true)) continue;
    ++asking_;
    base::Spawn(loop_.get_executor(), scope_, NameVms(this, entry));
  }
}

/// The cloud of one job, which may not answer, holds nobody else up.
base::Task<void> SshConfigKeeper::NameVms(SshConfigKeeper* self, EntryPtr entry) {
  co_await base::Yield();  // AskForNames() iterates over what a change may replace
  const std::ptrdiff_t nameless = CountNameless(*entry->hosts);
  auto names = self->FindNames(entry);
  std::string what = "asking for the names of VMs";
  (void)co_await base::WithTimeout(std::move(names), kNameVmsLimit, std::move(what));
  entry->asking = false;
  --self->asking_;
  if (CountNameless(*entry->hosts) < nameless) self->Changed();
}

base::Task<base::Status> SshConfigKeeper::FindNames(EntryPtr entry) {
  for (core::SshHost& host : entry->hosts->hosts) {
    if (!IsCurrent(entry)) break;  // nobody would forget what VmNames learns now
    if (!host.vm_name.empty()) continue;
    const core::HostPosition position = core::PositionOf(*entry->names_vms->slice, host.number);
    std::string name = co_await vms_.Of(entry->names_vms, position);
    host.vm_name = std::move(name);
  }
  co_return base::Ok();
}

/// Whether the job has not changed since, nor gone.
bool SshConfigKeeper::IsCurrent(const EntryPtr& entry) const {
  const auto known = jobs_.find(entry->hosts->id);
  return known != jobs_.end() && known->second == entry;
}

base::Task<void> SshConfigKeeper::Write(Jobs jobs) {
  if (!may_write_()) co_return;
  const auto work = std::make_shared<Writing>();
  work->paths = options_.paths;
  work->before = written_;
  for (const auto& [id, entry] : jobs) work->jobs.push_back(*entry->hosts);
  std::function<void()> write = [work] { work->Work(); };
  base::Status ended = co_await base::RunAndLeave(std::move(write));
  if (ended.ok()) ended = work->status;
  if (ended.ok()) {
    written_ = work->now;
    trouble_.clear();
    co_return;
  }
  incomplete_ = true;
  written_.reset();  // one of the files may be another one by now
  if (std::exchange(trouble_, ended.error().ToString()) == ended.error().ToString()) co_return;
  base::Log(base::LogLevel::kWarn, "ssh", "the names of hosts for OpenSSH are not up to date: {}",
            trouble_);
}

}  // namespace jobman::controller
