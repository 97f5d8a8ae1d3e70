#include "jobman/client/sync.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <asio/this_coro.hpp>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "client/code_files.hpp"
#include "client/copy_parts.hpp"
#include "client/interrupts.hpp"
#include "client/sync_delivery.hpp"
#include "client/sync_plan.hpp"
#include "jobman/base/clean.hpp"
#include "jobman/base/hash.hpp"
#include "jobman/base/random.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/base/waiters.hpp"
#include "jobman/client/code.hpp"
#include "jobman/client/copy.hpp"
#include "jobman/remote/sync_script.hpp"
#include "jobman/ssh/file_limit.hpp"

namespace jobman::client {
namespace {

using base::Result;
using base::Task;
using Words = std::vector<std::string>;

/// Answers that are in memory at once, of all hosts.
constexpr std::size_t kMostSyncAnswers = std::size_t{512} << 20;
/// Groups that are kept for hosts that may still come.
constexpr std::size_t kRecentGroups = 8;
/// How long a host waits for another one to fetch the list that both refer to.
constexpr base::Duration kListPatience = std::chrono::seconds{5};

base::Error BadTarget(const std::string& target, const std::string& why) {
  return base::InvalidArgument("\"" + target + "\" " + why,
                               "name a folder that is for this alone: jobman sync . JOB:code");
}

base::Error AnswerTooLong(std::int64_t bytes) {
  return {.code = base::Code::kResourceExhausted,
          .message = "its answer is longer than " + base::FormatBytes(bytes),
          .hint =
              "is it the right folder? What it has is listed; choose one of its own, or sync to "
              "fewer hosts at once: -w"};
}

/// Hosts that answered `look` alike.
struct LookGroup {
  SyncState state = {};
  std::string unsure = {};  ///< names to hash, each with its NUL
  bool stale = false;       ///< the record does not describe what is there
  std::map<std::string, std::shared_ptr<SyncPlan>> plans = {};  ///< by the answer to `hash`
};

/// Their names, a piece at a time: all hosts of the group share the text.
std::function<Result<std::string>()> PiecesOf(std::shared_ptr<const LookGroup> group) {
  return [group = std::move(group), at = std::size_t{0}]() mutable -> Result<std::string> {
    std::string piece = group->unsure.substr(at, SyncArchive::kPiece);
    at += piece.size();
    return piece;
  };
}

/// One sync: a coroutine for each host, which share what is calculated and read here.
class Syncing {
 public:
  Syncing(const Context& context, std::vector<ssh::FanOutHost> hosts, const SyncOrder& order,
          const SyncTree* tree, base::Path scratch, SyncTold told)
      : context_(context),
        hosts_(std::move(hosts)),
        order_(order),
        tree_(tree),
        scratch_(std::move(scratch)),
        told_(std::move(told)),
        directory_(HostPath(order.to)),
        shell_(context.open_shell(context.loop->get_executor(), *context.stores.host_keys)) {
    lists_[base::Sha256Hex(SyncListText(SyncRecords(tree->entries)))] =
        std::shared_ptr<const SyncEntries>(&tree->entries, [](const SyncEntries*) {});
    for (const ssh::FanOutHost& host : hosts_) synced_.hosts.push_back({.host = host.host});
    ended_.resize(hosts_.size(), false);
    odd_record_.resize(hosts_.size(), false);
    synced_.files = tree->files;
    synced_.notes = tree->notes;
  }

  Result<Synced> Run() {
    Interrupts interrupts(*context_.loop);
    const auto ended = context_.Await(UnlessInterrupted(&interrupts, All()));
    if (!ended) {
      SendFarewell(*context_.loop);
      context_.Await(delivery_.ForgetAll());
      return Interrupted();
    }
    context_.Await(UnlessInterrupted(&interrupts, delivery_.ForgetAll()));
    Finish();
    return std::move(synced_);
  }

 private:
  Task<bool> All() {
    const auto executor = co_await asio::this_coro::executor;
    const base::CancelScope scope;
    for (std::size_t row = 0; row < hosts_.size(); ++row)
      base::Spawn(executor, scope, One(row), [this, row](bool cancelled) { End(row, cancelled); });
    base::Spawn(executor, scope, Watch());
    while (left_ > 0) co_await done_.Wait();
    co_return true;
  }
  Task<void> Watch() {
    while (true) {
      co_await base::Sleep(std::chrono::seconds{1});
      Tell();
    }
  }
  void End(std::size_t row, bool cancelled) {
    ended_[row] = !cancelled;
    --left_;
    Tell();
    if (left_ == 0) done_.WakeAll();
  }
  void Tell() {
    if (!told_) return;
    SyncProgress progress{.sent = sent_, .total = total_};
    for (std::size_t row = 0; row < ended_.size(); ++row)
      if (!ended_[row]) progress.busy.push_back(hosts_[row].host);
    told_(progress);
  }

  Task<void> One(std::size_t row) {
    const base::Gate::Pass pass = co_await window_.Enter();
    base::Status ended = co_await Bring(row);
    if (!ended.ok()) synced_.hosts[row].error = std::move(ended).error();
  }
  Task<base::Status> Bring(std::size_t row) {
    JM_CO_ASSIGN_OR_RETURN(const std::shared_ptr<SyncPlan> plan, co_await Compare(row));
    synced_.hosts[row].nothing = plan->difference.IsNothing();
    if (order_.dry_run) {
      Count(row, *plan);
      Note(row, *plan);
      co_return base::Ok();
    }
    total_ += plan->bytes;
    bool complete = true;
    for (std::size_t part = 0; part < plan->parts.size(); ++part) {
      JM_CO_TRY(co_await delivery_.Bring(row, plan, part, &complete));
    }
    Count(row, *plan);
    co_return base::Ok();
  }

  Task<Result<std::shared_ptr<SyncPlan>>> Compare(std::size_t row) {
    const Words look = {"look", directory_, order_.remove ? "all" : "listed"};
    const std::shared_ptr<LookGroup> nothing;
    JM_CO_ASSIGN_OR_RETURN(const std::string answer, co_await Ask(row, look, nothing));
    auto group = co_await GroupOf(row, &answer);
    if (!group.ok() && odd_record_[row]) {
      const Words anew = {"look", directory_, "anew"};
      JM_CO_ASSIGN_OR_RETURN(const std::string more, co_await Ask(row, anew, nothing));
      group = co_await GroupOf(row, &more);
    }
    if (!group.ok()) co_return group.error();
    co_return co_await PlanOf(row, *group);
  }

  /// What a command of the script answers. Its input: the names that the group is not sure of.
  Task<Result<std::string>> Ask(std::size_t row, Words words,
                                std::shared_ptr<const LookGroup> unsure) {
    const ssh::FanOutHost& host = hosts_[row];
    ports::RemoteCommand command{.command = remote::SyncCommand(std::move(words)),
                                 .silence = kCopySilence};
    synced_.bytes += std::ssize(command.command);
    if (unsure) {
      synced_.bytes += std::ssize(unsure->unsure);
      command.next_input = PiecesOf(std::move(unsure));
    }
    std::string answer;
    const ports::ByteSink out = [this, &answer](std::string_view bytes) -> base::Status {
      if (answer.size() + bytes.size() > kMostSyncAnswer)
        return AnswerTooLong(std::int64_t{kMostSyncAnswer});
      if (held_ + bytes.size() > kMostSyncAnswers)
        return AnswerTooLong(std::int64_t{kMostSyncAnswers});
      held_ += bytes.size();
      answer += bytes;
      return base::Ok();
    };
    const ports::ByteSink err = talk_.SinkOf(host.host);
    const auto ended = co_await shell_->Run(host.target, std::move(command), out, err);
    held_ -= answer.size();
    if (!ended.ok()) co_return ended.error();
    if (*ended != 0) co_return CopyError(talk_.Of(host.host), *ended);
    co_return answer;
  }

  Task<Result<std::shared_ptr<LookGroup>>> GroupOf(std::size_t row, const std::string* answer) {
    const std::string key = base::Sha256Hex(*answer);
    if (auto known = groups_[key].lock()) co_return known;
    JM_CO_ASSIGN_OR_RETURN(SyncLook look, ParseSyncLook(*answer));
    std::shared_ptr<const SyncEntries> listed = std::make_shared<SyncEntries>();
    if (!look.digest.empty()) {
      JM_CO_ASSIGN_OR_RETURN(listed, co_await ListOf(row, look.digest));
    }
    auto group = std::make_shared<LookGroup>();
    group->stale = !look.gone.empty();
    group->state = StateOf(std::move(look), std::move(listed));
    for (const std::string& name : UnsureNames(tree_->entries, group->state))
      group->unsure += "./" + name + '\0';
    // Another host may have come first meanwhile.
    if (auto known = groups_[key].lock()) co_return known;
    groups_[key] = group;
    recent_.push_back(group);
    if (recent_.size() > kRecentGroups) recent_.pop_front();
    co_return group;
  }

  /// The list of a record that hosts refer to: one of them is asked, and what it says checked.
  Task<Result<std::shared_ptr<const SyncEntries>>> ListOf(std::size_t row, std::string digest) {
    const auto deadline = std::chrono::steady_clock::now() + kListPatience;
    while (!lists_.contains(digest) && fetching_.contains(digest) &&
           std::chrono::steady_clock::now() < deadline)
      co_await listed_.Wait(deadline);
    if (lists_.contains(digest)) co_return lists_[digest];
    fetching_.insert(digest);
    const Words list = {"list", directory_};
    const std::shared_ptr<LookGroup> nothing;
    const auto answer = co_await Ask(row, list, nothing);
    fetching_.erase(digest);
    listed_.WakeAll();
    odd_record_[row] = true;
    if (!answer.ok()) co_return answer.error();
    JM_CO_ASSIGN_OR_RETURN(SyncEntries entries, ParseSyncList(*answer, digest));
    odd_record_[row] = false;
    lists_[digest] = std::make_shared<const SyncEntries>(std::move(entries));
    co_return lists_[digest];
  }

  Task<Result<std::shared_ptr<SyncPlan>>> PlanOf(std::size_t row,
                                                 std::shared_ptr<LookGroup> group) {
    std::string hashed;
    if (!group->unsure.empty()) {
      const Words hash = {"hash", directory_};
      JM_CO_ASSIGN_OR_RETURN(hashed, co_await Ask(row, hash, group));
    }
    const std::string key = base::Sha256Hex(hashed);
    const auto known = group->plans.find(key);
    if (known != group->plans.end()) co_return known->second;
    SyncState state = group->state;
    if (!hashed.empty()) {
      JM_CO_ASSIGN_OR_RETURN(const auto hashes, ParseSyncHashes(hashed));
      for (const auto& [name, sha256] : hashes) {
        const auto entry = state.found.find(name);
        if (entry != state.found.end()) entry->second.sha256 = sha256;
      }
    }
    std::function<bool(const std::string&)> removes;
    if (order_.remove) {
      JM_CO_TRY(co_await LearnIgnored(OnlyThere(tree_->entries, state)));
      removes = [this](const std::string& name) { return !ignored_.contains(name); };
    }
    SyncDifference difference = CompareSync(tree_->entries, state, removes);
    auto plan =
        std::make_shared<SyncPlan>(PlanParts(*tree_, std::move(difference), state, group->stale));
    co_return group->plans.emplace(key, std::move(plan)).first->second;
  }

  /// Which names of hosts are excluded, and so are never removed. One question at a time.
  Task<base::Status> LearnIgnored(Words names) {
    const base::Gate::Pass pass = co_await asking_git_.Enter();
    std::erase_if(names, [this](const std::string& name) { return asked_.contains(name); });
    if (names.empty()) co_return base::Ok();
    const base::Path own = scratch_ / fmt::format("ignored-{}", ++questions_);
    JM_CO_ASSIGN_OR_RETURN(const auto found,
                           co_await FindIgnored(tree_->folder, names, order_.exclude, own));
    asked_.insert(names.begin(), names.end());
    ignored_.insert(found.begin(), found.end());
    co_return base::Ok();
  }

  /// A file that changed while it was read was left out.
  void Count(std::size_t row, const SyncPlan& plan) {
    Synced::Host& host = synced_.hosts[row];
    for (const std::string& name : plan.difference.send) {
      const bool folder = tree_->entries.at(name).kind == SyncEntry::Kind::kFolder;
      host.sent += folder || delivery_.changed().contains(name) ? 0 : 1;
    }
    host.changed = std::ssize(plan.difference.change);
    host.removed = std::ssize(plan.difference.remove);
  }
  /// What would be done to a host, beside the others with the same.
  void Note(std::size_t row, const SyncPlan& plan) {
    if (plan.difference.IsNothing()) return;
    Synced::Change change = ChangeOf(plan.difference);
    for (Synced::Change& known : synced_.changes) {
      if (known.send == change.send && known.change == change.change &&
          known.remove == change.remove) {
        known.hosts.push_back(hosts_[row].host);
        return;
      }
    }
    change.hosts.push_back(hosts_[row].host);
    synced_.changes.push_back(std::move(change));
  }
  void Finish() {
    for (Synced::Change& change : synced_.changes)
      std::sort(change.hosts.begin(), change.hosts.end());
    std::sort(synced_.changes.begin(), synced_.changes.end(),
              [](const auto& a, const auto& b) { return a.hosts < b.hosts; });
    for (const std::string& name : delivery_.changed()) {
      synced_.notes.push_back(base::CleanLine(name) +
                              ": file changed while it was read, and was not sent: sync again");
    }
  }
  static Synced::Change ChangeOf(const SyncDifference& difference) {
    Synced::Change change{
        .send = difference.send, .change = difference.change, .remove = difference.remove};
    for (const std::string& folder : difference.remove_folders)
      change.remove.push_back(folder + "/");
    std::sort(change.remove.begin(), change.remove.end());
    return change;
  }
  base::Error Interrupted() const {
    std::size_t done = 0;
    for (std::size_t row = 0; row < hosts_.size(); ++row)
      done += ended_[row] && !synced_.hosts[row].error ? 1 : 0;
    return {
        .code = base::Code::kCancelled,
        .message = fmt::format("interrupted; done: {} of {}; on the others each file is the old "
                               "or the new one",
                               done, base::Plural(std::ssize(hosts_), "host")),
        .hint = "sync again: it goes on"};
  }

  const Context& context_;
  std::vector<ssh::FanOutHost> hosts_;
  const SyncOrder& order_;
  const SyncTree* tree_;
  const base::Path scratch_;
  const SyncTold told_;
  const std::string directory_;
  std::unique_ptr<ports::HostShell> shell_;
  HostTalk talk_ = {};
  SyncDelivery delivery_{
      shell_.get(), &hosts_, tree_, directory_, order_.peers, &synced_, [this](std::int64_t bytes) {
        sent_ += bytes;
        Tell();
      }};
  std::map<std::string, std::weak_ptr<LookGroup>> groups_ = {};  ///< by the hash of the answer
  std::deque<std::shared_ptr<LookGroup>> recent_ = {};
  std::map<std::string, std::shared_ptr<const SyncEntries>> lists_ = {};
  std::set<std::string> fetching_ = {};
  base::Waiters listed_ = {};
  base::Gate window_{ssh::HostsAtOnce()};
  base::Gate asking_git_{1};
  int questions_ = 0;
  std::set<std::string> asked_ = {};
  std::set<std::string> ignored_ = {};
  std::vector<bool> ended_ = {};
  std::vector<bool> odd_record_ = {};  ///< what the host's record says is not to be used
  std::size_t left_ = hosts_.size();
  base::Waiters done_ = {};
  std::size_t held_ = 0;
  std::int64_t sent_ = 0;
  std::int64_t total_ = 0;
  Synced synced_ = {};
};

}  // namespace

Result<SyncOrder> PlanSync(const std::string& folder, const std::string& target) {
  const CopyPlace to = ParseCopyPlace(target);
  if (!ParseCopyPlace(folder).job.empty())
    return base::InvalidArgument(
        "sync makes a folder of the hosts equal to one of this machine, and "
        "not the reverse: " +
            folder,
        "from hosts: jobman cp " + folder + " .");
  if (to.job.empty()) return BadTarget(target, "names no folder of a job's hosts");
  const std::string name = NameOf(to.path);
  const std::vector<std::string> parts = base::Split(to.path, '/');
  const bool leads_up = std::find(parts.begin(), parts.end(), "..") != parts.end();
  if (name.empty() || name == "." || name == "~" || leads_up)
    return BadTarget(target, "names no folder of its own");
  std::error_code problem;
  base::Path whole = std::filesystem::absolute(folder, problem).lexically_normal();
  if (!whole.has_filename()) whole = whole.parent_path();
  return SyncOrder{.job = to.job, .folder = std::move(whole), .to = to.path};
}

std::vector<std::string> PeersOf(const core::Job& job) {
  std::vector<std::string> peers;
  const bool in_setup = job.stage && core::IsSetup(job.stage->id);
  if (!job.spec.ssh.host_to_host || !job.slice || in_setup) return peers;
  for (const core::HostAddress& host : job.slice->hosts) peers.push_back(host.internal);
  return peers;
}

Result<Synced> SyncToHosts(const Context& context, std::vector<ssh::FanOutHost> hosts,
                           const SyncOrder& order, SyncTold told) {
  JM_ASSIGN_OR_RETURN(const auto scratch, ScratchFolder::Make(context.paths.home));
  const base::Path kept =
      context.paths.home / "sync" / base::Sha256Hex(order.folder.string()).substr(0, 16);
  const auto on_read = [&told](std::int64_t bytes) {
    if (told) told({.read = bytes});
  };
  JM_ASSIGN_OR_RETURN(
      const SyncTree tree,
      context.Await(ReadSyncTree(order.folder, order.exclude, scratch->path(), kept, on_read)));
  Syncing syncing(context, std::move(hosts), order, &tree, scratch->path(), std::move(told));
  return syncing.Run();
}

}  // namespace jobman::client
