#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <map>
#include <memory>

#include "client/copy_look.hpp"
#include "client/copy_parts.hpp"
#include "client/copy_patience.hpp"
#include "client/interrupts.hpp"
#include "client/tar_process.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/client/copy.hpp"
#include "jobman/client/input_feed.hpp"
#include "jobman/client/run_on_hosts.hpp"
#include "jobman/remote/copy_script.hpp"
#include "jobman/ssh/file_limit.hpp"

namespace jobman::client {
namespace {

using base::Result;
using base::Status;
namespace fs = std::filesystem;
using Words = std::vector<std::string>;

/// How long the hosts may take to remove a copy that could not be read to its end.
constexpr base::Duration kDiscardLimit = std::chrono::seconds{10};

/// tar's words for these files and folders of this machine.
Result<Words> PackWords(const Words& sources) {
  // The same files make the same archive, byte for byte: a copy that broke off goes on with it.
  Words words = {"--create",
                 "--file=-",
                 "--format=posix",
                 "--sparse",
                 "--sparse-version=0.0",
                 "--sort=name",
                 "--hard-dereference",
                 "--owner=0",
                 "--group=0",
                 "--numeric-owner",
                 "--no-unquote",
                 "--pax-option=exthdr.name=%d/PaxHeaders/%f,delete=atime,delete=ctime"};
  for (const std::string& source : sources) {
    std::error_code failed;
    const auto status = fs::symlink_status(source, failed);
    if (status.type() == fs::file_type::not_found)
      return base::NotFound("there is no file or folder " + source + " here");
    if (failed) return base::FromErrno(failed.value(), "looking at " + source);
    const fs::path whole = fs::absolute(source, failed);
    const std::string name = NameOf(source);
    fs::path parent = whole.parent_path();
    if (source.ends_with('/')) parent = parent.parent_path();
    words.push_back("--directory=" + parent.string());
    words.push_back("./" + name);
  }
  return words;
}

/// One copy on its way to the hosts: rounds, in which all hosts that need it are given the same
/// archive, each from where it goes on.
class Sending {
 public:
  Sending(const Context& context, std::vector<ssh::FanOutHost> hosts, const CopyPlan& plan,
          CopyProgress progress)
      : context_(context),
        hosts_(std::move(hosts)),
        plan_(plan),
        progress_(std::move(progress)),
        shell_(context.open_shell(context.loop->get_executor(), *context.stores.host_keys)),
        folder_(CopyFolder(context, plan)) {
    for (const ssh::FanOutHost& host : hosts_) {
      rows_[host.host] = {.host = host.host};
      numbers_[host.target.identity] = host.host;
    }
    if (progress_) state_.total = ArchiveSize(plan_.sources);
    state_.hosts = static_cast<int>(hosts_.size());
  }

  Result<Copied> Run() {
    JM_ASSIGN_OR_RETURN(words_, PackWords(plan_.sources));
    std::vector<int> all;
    for (const ssh::FanOutHost& host : hosts_) all.push_back(host.host);
    JM_TRY(Rounds(all));
    Patience patience(plan_.patience);
    for (auto left = Passing(); !left.empty() && patience.MayWait(); left = Passing()) {
      state_.busy = left;
      Tell();
      if (!context_.Await(UnlessInterrupted(&interrupts_, patience.Wait()))) return Interrupted();
      JM_TRY(Rounds(left));
      if (std::exchange(more_there_, false) || Passing().size() < left.size()) patience.Renew();
    }
    if (whole_.size() == hosts_.size() && !marked_.empty()) RemoveMarks();
    for (auto& [host, row] : rows_) copied_.hosts.push_back(std::move(row));
    return std::move(copied_);
  }

 private:
  using Ended = std::optional<ssh::FanOutResult>;

  /// Each host has its own, since hosts may share the target.
  std::string FolderOn(int host) const { return fmt::format("{}-{}", folder_, host); }
  std::string Command(int host, const std::string& verb, const Words& more = {}) const {
    const std::string many = plan_.sources.size() > 1 ? "many" : "one";
    Words words = {verb, FolderOn(host), HostPath(plan_.to), many};
    words.insert(words.end(), more.begin(), more.end());
    return remote::CopyCommand(std::move(words));
  }
  /// What the calls of all hosts have in common.
  static ports::RemoteCommand Common() { return {.command = "", .silence = kCopySilence}; }
  /// Hosts with what a call needs.
  std::vector<ssh::FanOutHost> Chosen(const std::vector<int>& numbers, const std::string& verb,
                                      const Words& more = {}) {
    std::vector<ssh::FanOutHost> chosen;
    for (const ssh::FanOutHost& host : hosts_) {
      if (std::find(numbers.begin(), numbers.end(), host.host) == numbers.end()) continue;
      chosen.push_back(host);
      chosen.back().err = talk_.SinkOf(host.host);
      chosen.back().command = Command(host.host, verb, more);
    }
    return chosen;
  }
  /// Those that failed, but may do better later.
  std::vector<int> Passing() const {
    std::vector<int> passing;
    for (const auto& [host, row] : rows_) {
      if (row.error && !row.partly && MayPass(*row.error)) passing.push_back(host);
    }
    return passing;
  }
  void Tell() const {
    if (progress_) progress_(state_);
  }
  /// As many at once as can be connected: the archive goes to all of a round in step.
  Status Rounds(const std::vector<int>& numbers) {
    const auto most = static_cast<std::size_t>(ssh::HostsAtOnce());
    for (std::size_t begin = 0; begin < numbers.size(); begin += most) {
      const auto first = numbers.begin() + static_cast<std::ptrdiff_t>(begin);
      const std::size_t count = std::min(most, numbers.size() - begin);
      JM_TRY(RoundAndAnew(std::vector<int>(first, first + static_cast<std::ptrdiff_t>(count))));
    }
    return base::Ok();
  }
  /// Hosts that have something else, such as an earlier version of a file, begin anew.
  Status RoundAndAnew(const std::vector<int>& numbers) {
    JM_TRY(Round(numbers, "keep"));
    if (const std::vector<int> anew = std::exchange(differ_, {}); !anew.empty())
      JM_TRY(Round(anew, "fresh"));
    return base::Ok();
  }
  /// Sends the archive to these hosts, and lets those commit it that have it all.
  Status Round(const std::vector<int>& numbers, const std::string& what_is_there) {
    std::array<int, 2> ends = {};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return base::FromErrno(errno, "making a pipe");
    base::UniqueFd archive(ends[0]);
    base::UniqueFd filled(ends[1]);
    const auto executor = context_.loop->get_executor();
    JM_ASSIGN_OR_RETURN(const auto tar, TarProcess::Start(executor, words_, -1, filled.get()));
    filled.Reset();
    state_.busy = numbers;
    const Ended received = Send(archive.get(), numbers, what_is_there);
    if (!received) return Interrupted();
    archive.Reset();  // a tar that nobody reads any more ends
    const auto code = context_.Await(UnlessInterrupted(&interrupts_, tar->End()));
    if (!code) return Interrupted();
    if (*code == 1) Note(FirstLine(tar->said()));
    if (*code > 1 && *code != 128 + SIGPIPE) {
      Discard(numbers);
      return CopyError(tar->said(), *code).With("reading what is to be copied");
    }
    return Commit(*received);
  }
  void Note(std::string note) {
    if (std::find(copied_.notes.begin(), copied_.notes.end(), note) == copied_.notes.end())
      copied_.notes.push_back(std::move(note));
  }
  Ended Send(int archive, const std::vector<int>& numbers, const std::string& what_is_there) {
    const InputWords words{.name = "the archive",
                           .hint = "look at its disk, or copy to the other hosts alone: cp -w"};
    InputFeed feed(context_.loop->get_executor(), archive, kInputPatience, words);
    auto hosts = Chosen(numbers, "receive");
    for (ssh::FanOutHost& host : hosts) {
      facts_[host.host] = std::make_shared<InputResume>();
      host.pace = feed.JoinResuming(facts_[host.host]);
    }
    feed.Start([this](std::int64_t bytes) {
      state_.bytes = bytes;
      Tell();
    });
    const auto look = [this, what_is_there](const ports::HostTarget& target) {
      return Command(numbers_.at(target.identity), "look", {what_is_there});
    };
    look_first_ = std::make_unique<LookFirst>(shell_.get(), look);
    Ended received = RunOnHosts(context_, &interrupts_, look_first_.get(), std::move(hosts),
                                Common(), Telling());
    copied_.bytes = std::max(copied_.bytes, state_.bytes);
    return received;
  }
  /// Tells of the hosts that are not done with a call.
  ssh::FanOutOptions Telling() {
    const auto tell = [this](const ssh::BusyHosts& busy) {
      state_.busy = busy();
      Tell();
    };
    return {.on_end = tell, .on_look = tell};
  }
  /// On those hosts that have it all.
  Status Commit(const ssh::FanOutResult& received) {
    std::vector<int> numbers;
    for (const ssh::HostOutcome& one : received.hosts) {
      const InputResume& facts = *facts_[one.host];
      Copied::Host& row = rows_[one.host];
      row.error = ErrorOf(one);
      if (row.error && facts.offset + facts.given > 0)
        row.error = KeptCopy(std::move(*row.error), FolderOn(one.host));
      row.bytes = facts.given;
      // What was given to the connection need not have arrived: a host has more when it says so.
      if (!facts.differs && facts.offset > there_[one.host]) {
        there_[one.host] = facts.offset;
        more_there_ = true;
      }
      row.resumed = facts.differs ? 0 : facts.offset;
      row.took = one.took.value_or(base::Duration{0});
      if (!row.error) numbers.push_back(one.host);
      if (facts.differs) differ_.push_back(one.host);
    }
    if (numbers.empty()) return base::Ok();
    const bool more = whole_.size() + numbers.size() < hosts_.size();
    if (more) marked_.insert(marked_.end(), numbers.begin(), numbers.end());
    const Words words = {std::to_string(state_.bytes), more ? "more" : "last"};
    const Ended committed = RunOnHosts(context_, &interrupts_, shell_.get(),
                                       Chosen(numbers, "commit", words), Common(), Telling());
    if (!committed) {
      committing_ = numbers;
      return Interrupted();
    }
    for (const ssh::HostOutcome& one : committed->hosts) EndRow(one);
    return base::Ok();
  }
  void EndRow(const ssh::HostOutcome& one) {
    Copied::Host& row = rows_[one.host];
    row.took += one.took.value_or(base::Duration{0});
    row.error = ErrorOf(one);
    const bool begun = one.result.ok()
                           ? *one.result == remote::kCopyPartly
                           : one.result.error().reason == base::Reason::kHostHangs ||
                                 one.result.error().reason == base::Reason::kConnectionBroke;
    if (row.error && begun) {
      row.partly = true;
      row.error = PartlyCopied(std::move(*row.error));
    }
    if (!row.error) whole_.push_back(one.host);
  }
  /// Nobody comes late any more. The copy is there, whatever becomes of this.
  void RemoveMarks() {
    state_.busy = marked_;
    (void)RunOnHosts(context_, &interrupts_, shell_.get(), Chosen(marked_, "discard"), Common(),
                     Telling());
  }
  /// After what is to be copied could not be read: it would not be whole.
  void Discard(const std::vector<int>& numbers) {
    Interrupts again(*context_.loop);
    auto all = ssh::FanOut(shell_.get(), Chosen(numbers, "discard"), Common(), {});
    context_.Await(UnlessInterrupted(&again, WithinDiscardLimit(std::move(all))));
  }
  static base::Task<bool> WithinDiscardLimit(base::Task<ssh::FanOutResult> task) {
    using namespace asio::experimental::awaitable_operators;
    const auto first = co_await (std::move(task) || base::Sleep(kDiscardLimit));
    co_return first.index() == 0;
  }
  base::Error Interrupted() const {
    std::string message =
        fmt::format("interrupted; {} of {} have the copy", whole_.size(),
                    base::Plural(static_cast<std::int64_t>(hosts_.size()), "host"));
    if (!committing_.empty()) {
      message +=
          fmt::format("; {} {} may be giving it its final name",
                      committing_.size() == 1 ? "host" : "hosts", base::FormatRanges(committing_));
    }
    message += "; what arrived elsewhere is kept in " + folder_ + "-N beside the target";
    return {.code = base::Code::kCancelled,
            .message = std::move(message),
            .hint =
                "the same cp goes on from there; otherwise the next copy to the same place "
                "removes it a day later"};
  }
  std::optional<base::Error> ErrorOf(const ssh::HostOutcome& one) {
    if (!one.result.ok()) return one.result.error();
    if (*one.result == 0) return std::nullopt;
    return CopyError(talk_.Of(one.host), *one.result);
  }

  const Context& context_;
  Interrupts interrupts_{*context_.loop};
  std::vector<ssh::FanOutHost> hosts_;
  const CopyPlan& plan_;
  CopyProgress progress_;
  std::unique_ptr<ports::HostShell> shell_;
  std::unique_ptr<LookFirst> look_first_ = {};  ///< of the last round
  const std::string folder_;
  Words words_ = {};  ///< for tar
  HostTalk talk_ = {};
  std::map<int, std::shared_ptr<InputResume>> facts_ = {};  ///< of the last round
  std::map<int, Copied::Host> rows_ = {};
  std::vector<int> differ_ = {};             ///< hosts that have something else
  std::vector<int> committing_ = {};         ///< when it was interrupted
  std::vector<int> whole_ = {};              ///< hosts that are done
  std::vector<int> marked_ = {};             ///< those that tell others that the copy has begun
  std::map<std::string, int> numbers_ = {};  ///< of hosts, by their identity
  std::map<int, std::int64_t> there_ = {};   ///< of the archive, as hosts have said
  bool more_there_ = false;                  ///< than a host had before
  CopyState state_ = {};
  Copied copied_ = {};
};

}  // namespace

Result<Copied> CopyToHosts(const Context& context, std::vector<ssh::FanOutHost> hosts,
                           const CopyPlan& plan, CopyProgress progress) {
  return Sending(context, std::move(hosts), plan, std::move(progress)).Run();
}

}  // namespace jobman::client
