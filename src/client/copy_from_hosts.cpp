#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>

#include "client/copy_parts.hpp"
#include "client/interrupts.hpp"
#include "client/unpacking.hpp"
#include "jobman/client/copy.hpp"
#include "jobman/client/run_on_hosts.hpp"
#include "jobman/remote/copy_script.hpp"

namespace jobman::client {
namespace {

using base::Result;
using base::Status;
namespace fs = std::filesystem;

constexpr int kHostsAtOnce = 8;  // each has a tar here

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

/// One copy on its way from the hosts.
class Receiving {
 public:
  Receiving(const Context& context, const CopyPlan& plan, bool folders, CopyProgress progress)
      : context_(context), plan_(plan), folders_(folders), progress_(std::move(progress)) {}
  ~Receiving() {
    unpackings_.clear();
    // Unless something was copied there.
    std::error_code ignored;
    if (target_.made) fs::remove(target_.into, ignored);
  }
  Receiving(const Receiving&) = delete;
  Receiving& operator=(const Receiving&) = delete;

  Result<Copied> Run(std::vector<ssh::FanOutHost> hosts) {
    JM_ASSIGN_OR_RETURN(target_, FindTarget(plan_, folders_));
    for (ssh::FanOutHost& host : hosts) {
      busy_.push_back(host.host);
      JM_TRY(Connect(host));
    }
    const auto shell =
        context_.open_shell(context_.loop->get_executor(), *context_.stores.host_keys);
    ssh::FanOutOptions fan_out{.window = kHostsAtOnce};
    fan_out.on_end = [this](const std::vector<int>& busy) {
      busy_ = busy;
      EndOthers();
      Tell();
    };
    fan_out.on_look = [this](const std::vector<int>& /*busy*/) { Tell(); };
    const auto ended = RunOnHosts(context_, &interrupts_, shell.get(), std::move(hosts), Command(),
                                  std::move(fan_out));
    if (!ended) return Interrupted();
    for (const ssh::HostOutcome& one : ended->hosts) {
      const auto unpacking = unpackings_[one.host];
      const auto finished = context_.Await(UnlessInterrupted(&interrupts_, unpacking->Finish()));
      if (!finished) return Interrupted();
      Copied::Host row{.host = one.host};
      if (Status placed = Place(one, *unpacking, *finished); !placed.ok()) {
        row.partly = unpacking->moving();
        row.error = row.partly ? PartlyCopied(placed.error()) : placed.error();
      }
      copied_.hosts.push_back(std::move(row));
      unpackings_.erase(one.host);
    }
    return std::move(copied_);
  }

 private:
  ports::RemoteCommand Command() const {
    std::vector<std::string> words = {"pack"};
    for (const std::string& source : plan_.sources) words.push_back(HostPath(source));
    return {.command = remote::CopyCommand(std::move(words)), .silence = kCopySilence};
  }
  Status Connect(ssh::FanOutHost& host) {
    host.err = talk_.SinkOf(host.host);
    // Where it will be, so that its final names are given by renaming.
    JM_ASSIGN_OR_RETURN(const auto unpacking,
                        Unpacking::Begin(context_.loop->get_executor(), target_.into));
    unpackings_[host.host] = unpacking;
    host.pace = unpacking;
    host.out = [this, unpacking](std::string_view bytes) -> Status {
      unpacking->Take(bytes);
      copied_.bytes += std::ssize(bytes);
      Tell();
      return base::Ok();
    };
    return base::Ok();
  }
  /// A host that is done needs no tar any more.
  void EndOthers() {
    for (const auto& [host, unpacking] : unpackings_) {
      if (std::find(busy_.begin(), busy_.end(), host) == busy_.end()) unpacking->End();
    }
  }
  void Tell() const {
    if (progress_) progress_(copied_.bytes, busy_);
  }
  static base::Error Interrupted() {
    return {.code = base::Code::kCancelled,
            .message = "interrupted; what was not here completely was removed",
            .hint = "copy again: it begins anew"};
  }
  Status Place(const ssh::HostOutcome& one, Unpacking& unpacking, const Status& finished) {
    auto sent = [&]() -> Status {
      if (!one.result.ok()) return one.result.error();
      if (*one.result == 0 || *one.result == remote::kCopyChanged) return base::Ok();
      return CopyError(talk_.Of(one.host), *one.result);
    }();
    // What this machine refuses is why the host could not go on.
    if (!sent.ok() && !unpacking.broken()) return sent;
    JM_TRY(finished);
    JM_TRY(sent);
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
  Target target_ = {};
  HostTalk talk_ = {};
  std::map<int, std::shared_ptr<Unpacking>> unpackings_ = {};
  std::vector<int> busy_ = {};
  Copied copied_ = {};
};

}  // namespace

Result<Copied> CopyFromHosts(const Context& context, std::vector<ssh::FanOutHost> hosts,
                             const CopyPlan& plan, bool folders, CopyProgress progress) {
  return Receiving(context, plan, folders, std::move(progress)).Run(std::move(hosts));
}

}  // namespace jobman::client
