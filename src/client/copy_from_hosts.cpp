#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>
#include <memory>

#include "client/copy_parts.hpp"
#include "client/copy_patience.hpp"
#include "client/interrupts.hpp"
#include "client/unpacking.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/client/copy.hpp"
#include "jobman/client/run_on_hosts.hpp"
#include "jobman/remote/copy_script.hpp"
#include "jobman/ssh/file_limit.hpp"

namespace jobman::client {
namespace {

using base::Result;
using base::Status;
namespace fs = std::filesystem;

constexpr int kHostsAtOnce = 32;

/// Where the content of a copy belongs on this machine.
struct Target {
  base::Path into = {};   ///< a folder that exists
  bool made = false;      ///< by this copy
  std::string name = {};  ///< empty: under its own names
};

Result<Target> FindTarget(const CopyPlan& plan, bool folders) {
  const std::string& to = plan.to;
  std::error_code failed;
  if (fs::is_directory(to, failed)) return Target{.into = to};
  if (folders && !fs::exists(to, failed)) {
    fs::create_directory(to, failed);
    if (failed) return base::FromErrno(failed.value(), "making the folder " + to);
    return Target{.into = to, .made = true};
  }
  if (folders || plan.sources.size() > 1 || to.ends_with('/')) {
    return base::NotFound("there is no folder " + to + " here, which " +
                          (folders ? "the copies of several hosts need" : "the copy needs"));
  }
  base::Path parent = base::Path(to).parent_path();
  if (parent.empty()) parent = ".";
  if (!fs::is_directory(parent, failed))
    return base::NotFound("there is no folder " + parent.string() + " here");
  return Target{.into = parent, .name = NameOf(to)};
}

/// What belongs to one host of a copy.
struct SourceHost {
  ssh::FanOutHost host = {};
  std::shared_ptr<Unpacking> unpacking = {};
  std::unique_ptr<PackNews> news = {};
  Copied::Host row = {};
};

/// One copy on its way from the hosts: rounds, in which each host sends what is not here yet.
class Receiving {
 public:
  Receiving(const Context& context, const CopyPlan& plan, bool folders, CopyProgress progress)
      : context_(context), plan_(plan), folders_(folders), progress_(std::move(progress)) {}
  ~Receiving() {
    sources_.clear();
    // Unless something was copied there, or is kept there.
    std::error_code ignored;
    if (target_.made) fs::remove(target_.into, ignored);
  }
  Receiving(const Receiving&) = delete;
  Receiving& operator=(const Receiving&) = delete;

  Result<Copied> Run(std::vector<ssh::FanOutHost> hosts) {
    JM_ASSIGN_OR_RETURN(target_, FindTarget(plan_, folders_));
    DropOldCopies(target_.into);
    shell_ = context_.open_shell(context_.loop->get_executor(), *context_.stores.host_keys);
    state_.hosts = static_cast<int>(hosts.size());
    // Each host of a round has its archive and its tar here, which take files as its connection
    // does.
    const auto most = static_cast<std::size_t>(std::max(1, ssh::HostsAtOnce() / 2));
    for (std::size_t begin = 0; begin < hosts.size(); begin += most) {
      std::vector<int> numbers;
      for (std::size_t at = begin; at < std::min(begin + most, hosts.size()); ++at) {
        numbers.push_back(hosts[at].host);
        JM_TRY(Connect(std::move(hosts[at])));
      }
      JM_TRY(RoundAndAnew(numbers));
    }
    Patience patience(plan_.patience);
    for (auto left = Passing(); !left.empty() && patience.MayWait(); left = Passing()) {
      state_.busy = left;
      Tell();
      if (!context_.Await(UnlessInterrupted(&interrupts_, patience.Wait()))) return Interrupted();
      const std::int64_t before = copied_.bytes;
      JM_TRY(RoundAndAnew(left));
      if (Passing().size() < left.size() || copied_.bytes > before) patience.Renew();
    }
    for (auto& [host, source] : sources_) copied_.hosts.push_back(std::move(source.row));
    return std::move(copied_);
  }

 private:
  Status Connect(ssh::FanOutHost host) {
    SourceHost& source = sources_[host.host];
    source.row.host = host.host;
    // Where it will be, so that its final names are given by renaming.
    const base::Path folder =
        target_.into / fmt::format("{}-{}", CopyFolder(context_, plan_), host.host);
    JM_ASSIGN_OR_RETURN(source.unpacking, Unpacking::Begin(context_.loop->get_executor(), folder));
    host.pace = source.unpacking;
    source.host = std::move(host);
    return base::Ok();
  }
  void Tell() const {
    if (progress_) progress_(state_);
  }
  /// Not for every piece: there may be a thousand hosts.
  void Count() {
    state_.bytes = 0;
    std::int64_t known = 0;
    std::int64_t total = 0;
    for (const auto& [host, source] : sources_) {
      state_.bytes += source.row.resumed + source.row.bytes;
      if (!source.news || source.news->size() == 0) continue;
      ++known;
      total += source.news->size();
    }
    // Those that have not said it yet are taken to be like the others.
    state_.total = known == 0 ? 0 : total / known * state_.hosts;
  }
  std::vector<int> Passing() const {
    std::vector<int> passing;
    for (const auto& [host, source] : sources_) {
      if (source.unpacking && source.row.error && MayPass(*source.row.error))
        passing.push_back(host);
    }
    return passing;
  }
  /// What is here of a host may be of an earlier version: that is begun anew.
  Status RoundAndAnew(const std::vector<int>& numbers) {
    JM_TRY(Round(numbers));
    if (const std::vector<int> anew = std::exchange(differ_, {}); !anew.empty())
      JM_TRY(Round(anew));
    return base::Ok();
  }
  Status Round(const std::vector<int>& numbers) {
    std::vector<ssh::FanOutHost> hosts;
    for (const int number : numbers) {
      JM_ASSIGN_OR_RETURN(ssh::FanOutHost host, Ask(&sources_[number]));
      hosts.push_back(std::move(host));
    }
    state_.busy = numbers;
    Count();
    ssh::FanOutOptions fan_out{.window = kHostsAtOnce};
    fan_out.on_end = [this](const ssh::BusyHosts& busy) {
      state_.busy = busy();
      Count();
      Tell();
    };
    fan_out.on_look = fan_out.on_end;
    const ports::RemoteCommand common{.silence = kCopySilence};
    const auto ended = RunOnHosts(context_, &interrupts_, shell_.get(), std::move(hosts), common,
                                  std::move(fan_out));
    if (!ended) return Interrupted();
    for (const ssh::HostOutcome& one : ended->hosts) JM_TRY(End(one));
    return base::Ok();
  }
  /// The host with the command for what is not here yet.
  Result<ssh::FanOutHost> Ask(SourceHost* source) {
    std::vector<std::string> words = {"pack", "0", "-"};
    source->row.resumed = source->unpacking->offset();
    source->row.bytes = 0;
    if (source->row.resumed > 0) {
      words[1] = std::to_string(source->row.resumed);
      auto hash = context_.Await(UnlessInterrupted(&interrupts_, source->unpacking->Hash()));
      if (!hash) return Interrupted();
      JM_ASSIGN_OR_RETURN(words[2], std::move(*hash));
    }
    for (const std::string& path : plan_.sources) words.push_back(HostPath(path));
    ssh::FanOutHost host = source->host;
    host.command = remote::CopyCommand(std::move(words));
    source->news = std::make_unique<PackNews>(talk_.SinkOf(host.host));
    host.err = [news = source->news.get()](std::string_view bytes) { return news->Hear(bytes); };
    host.out = [this, source](std::string_view bytes) -> Status {
      JM_TRY(source->unpacking->Take(bytes));
      source->row.bytes += std::ssize(bytes);
      copied_.bytes += std::ssize(bytes);
      state_.bytes += std::ssize(bytes);
      Tell();
      return base::Ok();
    };
    return host;
  }
  /// An error is that of the whole copy.
  Status End(const ssh::HostOutcome& one) {
    SourceHost& source = sources_[one.host];
    source.row.took = one.took.value_or(base::Duration{0});
    source.row.error.reset();
    if (one.result.ok() && *one.result == remote::kCopyDiffers && source.row.resumed > 0) {
      JM_TRY(source.unpacking->Restart());
      differ_.push_back(one.host);
      return base::Ok();
    }
    if (Status sent = SentBy(one); !sent.ok()) {
      source.row.error = source.unpacking->offset() > 0
                             ? KeptCopy(sent.error(), CopyFolder(context_, plan_))
                             : sent.error();
      // What is not read to its end would not be whole; what broke off may go on.
      if (one.result.ok()) source.unpacking->Drop();
      return base::Ok();
    }
    const auto finished =
        context_.Await(UnlessInterrupted(&interrupts_, source.unpacking->Finish()));
    if (!finished) return Interrupted();
    if (Status placed = finished->ok() ? Place(one, *source.unpacking) : *finished; !placed.ok()) {
      source.row.partly = source.unpacking->moving();
      source.row.error = source.row.partly ? PartlyCopied(placed.error()) : placed.error();
    }
    if (!source.row.error) ++whole_;
    source.host.pace.reset();
    source.unpacking.reset();
    shell_->Drop(source.host.target);  // its files are for the next hosts
    return base::Ok();
  }
  Status SentBy(const ssh::HostOutcome& one) {
    if (!one.result.ok()) return one.result.error();
    if (*one.result == 0 || *one.result == remote::kCopyChanged) return base::Ok();
    return CopyError(talk_.Of(one.host), *one.result);
  }
  base::Error Interrupted() const {
    return {.code = base::Code::kCancelled,
            .message = fmt::format("interrupted; the copies of {} of {} are here; what arrived of "
                                   "others is kept in {}, in {}-N",
                                   whole_, base::Plural(state_.hosts, "host"),
                                   target_.into.string(), CopyFolder(context_, plan_)),
            .hint =
                "the same cp goes on from there; otherwise the next copy to the same place "
                "removes it a day later"};
  }
  Status Place(const ssh::HostOutcome& one, Unpacking& unpacking) {
    if (*one.result == remote::kCopyChanged) {
      copied_.notes.push_back(fmt::format("host {}: {}", one.host, FirstLine(talk_.Of(one.host))));
    }
    std::vector<std::string> names;
    for (const std::string& source : plan_.sources) names.push_back(NameOf(source));
    if (!folders_) return unpacking.Place(target_.into, target_.name, names);
    const base::Path own = target_.into / fmt::format("host-{}", one.host);
    std::error_code failed;
    fs::create_directory(own, failed);
    if (failed || fs::symlink_status(own, failed).type() != fs::file_type::directory)
      return base::FromErrno(failed ? failed.value() : ENOTDIR,
                             "making the folder " + own.string());
    Status placed = unpacking.Place(own, {}, names);
    if (!placed.ok()) fs::remove(own, failed);  // if it is empty
    return placed;
  }

  const Context& context_;
  Interrupts interrupts_{*context_.loop};
  const CopyPlan& plan_;
  bool folders_;
  CopyProgress progress_;
  std::unique_ptr<ports::HostShell> shell_ = {};
  Target target_ = {};
  HostTalk talk_ = {};
  std::map<int, SourceHost> sources_ = {};
  std::vector<int> differ_ = {};  ///< hosts of whose copy something else is here
  int whole_ = 0;                 ///< hosts that are done
  CopyState state_ = {};
  Copied copied_ = {};
};

}  // namespace

Result<Copied> CopyFromHosts(const Context& context, std::vector<ssh::FanOutHost> hosts,
                             const CopyPlan& plan, bool folders, CopyProgress progress) {
  return Receiving(context, plan, folders, std::move(progress)).Run(std::move(hosts));
}

}  // namespace jobman::client
