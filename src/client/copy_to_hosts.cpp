#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>

#include "client/copy_parts.hpp"
#include "client/tar_process.hpp"
#include "jobman/base/random.hpp"
#include "jobman/client/copy.hpp"
#include "jobman/client/input_feed.hpp"
#include "jobman/client/run_on_hosts.hpp"
#include "jobman/remote/copy_script.hpp"

namespace jobman::client {
namespace {

using base::Result;
namespace fs = std::filesystem;
using Words = std::vector<std::string>;
using Interruptible = Result<std::optional<Copied>>;

/// tar's words for these files and folders of this machine.
Result<Words> PackWords(const Words& sources) {
  Words words = {"--create",  "--file=-",  "--format=gnu",   "--hard-dereference",
                 "--owner=0", "--group=0", "--numeric-owner"};
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

  Interruptible Run() {
    JM_ASSIGN_OR_RETURN(const Words words, PackWords(plan_.sources));
    std::array<int, 2> ends = {};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return base::FromErrno(errno, "making a pipe");
    base::UniqueFd archive(ends[0]);
    base::UniqueFd filled(ends[1]);
    const auto executor = context_.loop->get_executor();
    JM_ASSIGN_OR_RETURN(const auto tar, TarProcess::Start(executor, words, -1, filled.get()));
    filled.Reset();
    bool all_read = false;
    auto unpacked = Unpack(archive.get(), &all_read);
    if (!unpacked) return std::optional<Copied>();
    archive.Reset();  // a tar that nobody reads any more ends
    const int code = context_.Await(tar->End());
    if (all_read && code == 1) copied_.notes.push_back(FirstLine(tar->said()));
    if (all_read && code > 1) {
      Finish("discard", *unpacked);
      return CopyError(tar->said(), code).With("reading what is to be copied");
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
  Ended Unpack(int archive, bool* all_read) {
    InputFeed feed(context_.loop->get_executor(), archive);
    auto hosts = Chosen(busy_);
    for (ssh::FanOutHost& host : hosts) host.pace = feed.Join();
    feed.Start([this](std::int64_t bytes) {
      copied_.bytes = bytes;
      if (progress_) progress_(bytes, busy_);
    });
    Ended ended = RunOnHosts(context_, shell_.get(), std::move(hosts), Command("unpack"),
                             {.on_end = [this](const std::vector<int>& busy) {
                               busy_ = busy;
                               if (progress_) progress_(copied_.bytes, busy_);
                             }});
    *all_read = feed.ended();
    return ended;
  }
  /// On those hosts that have it all.
  Ended Finish(const std::string& verb, const ssh::FanOutResult& unpacked) {
    std::vector<int> numbers;
    for (const ssh::HostOutcome& one : unpacked.hosts)
      if (one.result.ok() && *one.result == 0) numbers.push_back(one.host);
    ports::RemoteCommand command = Command(verb);
    command.limit = kCopySilence;
    return RunOnHosts(context_, shell_.get(), Chosen(numbers), command, {});
  }
  Interruptible Commit(const ssh::FanOutResult& unpacked) {
    const Ended committed = Finish("commit", unpacked);
    if (!committed) return std::optional<Copied>();
    for (const ssh::HostOutcome& one : unpacked.hosts) {
      const ssh::HostOutcome* last = &one;
      for (const ssh::HostOutcome& other : committed->hosts)
        if (other.host == one.host) last = &other;
      copied_.hosts.push_back({.host = one.host, .error = ErrorOf(*last)});
    }
    return std::optional<Copied>(std::move(copied_));
  }
  std::optional<base::Error> ErrorOf(const ssh::HostOutcome& one) {
    if (!one.result.ok()) return one.result.error();
    if (*one.result == 0) return std::nullopt;
    return CopyError(talk_.Of(one.host), *one.result);
  }

  const Context& context_;
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

Interruptible CopyToHosts(const Context& context, std::vector<ssh::FanOutHost> hosts,
                          const CopyPlan& plan, CopyProgress progress) {
  return Sending(context, std::move(hosts), plan, std::move(progress)).Run();
}

}  // namespace jobman::client
