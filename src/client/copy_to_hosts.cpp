#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <filesystem>

#include "client/copy_parts.hpp"
#include "client/interrupts.hpp"
#include "client/tar_process.hpp"
#include "jobman/base/random.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/client/copy.hpp"
#include "jobman/client/input_feed.hpp"
#include "jobman/client/run_on_hosts.hpp"
#include "jobman/remote/copy_script.hpp"

namespace jobman::client {
namespace {

using base::Result;
namespace fs = std::filesystem;
using Words = std::vector<std::string>;

/// How long the hosts may take to remove what an interrupted copy left there.
constexpr base::Duration kDiscardLimit = std::chrono::seconds{10};

/// tar's words for these files and folders of this machine.
Result<Words> PackWords(const Words& sources) {
  Words words = {"--create",  "--file=-",  "--format=gnu",    "--sparse",    "--hard-dereference",
                 "--owner=0", "--group=0", "--numeric-owner", "--no-unquote"};
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

/// One copy on its way to the hosts.
class Sending {
 public:
  Sending(const Context& context, std::vector<ssh::FanOutHost> hosts, const CopyPlan& plan,
          CopyProgress progress)
      : context_(context),
        hosts_(std::move(hosts)),
        plan_(plan),
        progress_(std::move(progress)),
        shell_(context.open_shell(context.loop->get_executor(), *context.stores.host_keys)) {
    for (const ssh::FanOutHost& host : hosts_) busy_.push_back(host.host);
  }

  Result<Copied> Run() {
    JM_ASSIGN_OR_RETURN(const Words words, PackWords(plan_.sources));
    std::array<int, 2> ends = {};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return base::FromErrno(errno, "making a pipe");
    base::UniqueFd archive(ends[0]);
    base::UniqueFd filled(ends[1]);
    const auto executor = context_.loop->get_executor();
    JM_ASSIGN_OR_RETURN(const auto tar, TarProcess::Start(executor, words, -1, filled.get()));
    filled.Reset();
    auto unpacked = Unpack(archive.get());
    if (!unpacked) return Interrupted();
    archive.Reset();  // a tar that nobody reads any more ends
    const auto code = context_.Await(UnlessInterrupted(&interrupts_, tar->End()));
    if (!code) return Interrupted();
    if (*code == 1) copied_.notes.push_back(FirstLine(tar->said()));
    if (*code > 1 && *code != 128 + SIGPIPE) {
      Discard();
      return CopyError(tar->said(), *code).With("reading what is to be copied");
    }
    return Commit(*unpacked);
  }

 private:
  using Ended = std::optional<ssh::FanOutResult>;

  ports::RemoteCommand Command(const std::string& verb) const {
    const std::string many = plan_.sources.size() > 1 ? "many" : "one";
    return {.command = remote::CopyCommand({verb, folder_, HostPath(plan_.to), many}),
            .silence = kCopySilence};
  }
  /// Hosts with what a call needs.
  std::vector<ssh::FanOutHost> Chosen(const std::vector<int>& numbers) {
    std::vector<ssh::FanOutHost> chosen;
    for (const ssh::FanOutHost& host : hosts_) {
      if (std::find(numbers.begin(), numbers.end(), host.host) == numbers.end()) continue;
      chosen.push_back(host);
      chosen.back().err = talk_.SinkOf(host.host);
    }
    return chosen;
  }
  Ended Unpack(int archive) {
    const InputWords words{.name = "the archive",
                           .hint = "look at its disk, or copy to the other hosts alone: cp -w"};
    InputFeed feed(context_.loop->get_executor(), archive, kInputPatience, words);
    auto hosts = Chosen(busy_);
    for (ssh::FanOutHost& host : hosts) host.pace = feed.Join();
    feed.Start([this](std::int64_t bytes) {
      copied_.bytes = bytes;
      if (progress_) progress_(bytes, busy_);
    });
    return RunOnHosts(context_, &interrupts_, shell_.get(), std::move(hosts), Command("unpack"),
                      Telling());
  }
  /// Tells of the hosts that are not done with a call.
  ssh::FanOutOptions Telling() {
    const auto tell = [this](const std::vector<int>& busy) {
      busy_ = busy;
      if (progress_) progress_(copied_.bytes, busy_);
    };
    return {.on_end = tell, .on_look = tell};
  }
  /// On those hosts that have it all.
  Result<Copied> Commit(const ssh::FanOutResult& unpacked) {
    std::vector<int> numbers;
    for (const ssh::HostOutcome& one : unpacked.hosts)
      if (one.result.ok() && *one.result == 0) numbers.push_back(one.host);
    const Ended committed = RunOnHosts(context_, &interrupts_, shell_.get(), Chosen(numbers),
                                       Command("commit"), Telling());
    if (!committed) return Interrupted();
    for (const ssh::HostOutcome& one : unpacked.hosts) {
      Copied::Host row{.host = one.host, .error = ErrorOf(one)};
      for (const ssh::HostOutcome& last : committed->hosts)
        if (last.host == one.host) row = CommittedRow(last);
      copied_.hosts.push_back(std::move(row));
    }
    return std::move(copied_);
  }
  Copied::Host CommittedRow(const ssh::HostOutcome& one) {
    Copied::Host row{.host = one.host, .error = ErrorOf(one)};
    const bool begun = one.result.ok()
                           ? *one.result == remote::kCopyPartly
                           : one.result.error().reason == base::Reason::kHostHangs ||
                                 one.result.error().reason == base::Reason::kConnectionBroke;
    if (row.error && begun) {
      row.partly = true;
      row.error = PartlyCopied(std::move(*row.error));
    }
    return row;
  }
  /// Removes what the hosts have that is not in its place; returns those that did not say so. Ended
  /// by an interrupt of its own: the user's second one.
  std::vector<int> Discard() {
    std::vector<int> kept;
    for (const ssh::FanOutHost& host : hosts_) kept.push_back(host.host);
    auto hosts = Chosen(kept);
    for (ssh::FanOutHost& host : hosts) {
      host.out = [&kept, number = host.host](std::string_view said) -> base::Status {
        if (base::Contains(said, "gone\n")) std::erase(kept, number);
        return base::Ok();
      };
    }
    Interrupts again(*context_.loop);
    auto all = ssh::FanOut(shell_.get(), std::move(hosts), Command("discard"), {});
    context_.Await(UnlessInterrupted(&again, WithinDiscardLimit(std::move(all))));
    return kept;
  }
  static base::Task<bool> WithinDiscardLimit(base::Task<ssh::FanOutResult> task) {
    using namespace asio::experimental::awaitable_operators;
    const auto first = co_await (std::move(task) || base::Sleep(kDiscardLimit));
    co_return first.index() == 0;
  }
  base::Error Interrupted() {
    const std::vector<int> kept = Discard();
    base::Error error{.code = base::Code::kCancelled,
                      .message = "interrupted; what the hosts did not have completely was removed",
                      .hint = "copy again: it begins anew"};
    if (!kept.empty()) {
      error.message =
          fmt::format("interrupted; {} {} did not confirm that {} was removed beside the target",
                      kept.size() == 1 ? "host" : "hosts", base::FormatRanges(kept), folder_);
      error.hint += "; what is a day old is removed then";
    }
    return error;
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
  const std::string folder_ = ".jobman-cp-" + base::RandomHex(8);
  HostTalk talk_ = {};
  std::vector<int> busy_ = {};
  Copied copied_ = {};
};

}  // namespace

Result<Copied> CopyToHosts(const Context& context, std::vector<ssh::FanOutHost> hosts,
                           const CopyPlan& plan, CopyProgress progress) {
  return Sending(context, std::move(hosts), plan, std::move(progress)).Run();
}

}  // namespace jobman::client
