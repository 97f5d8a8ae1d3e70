#include "jobman/client/exec_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "client/exec_command.hpp"
#include "client/exec_follow.hpp"
#include "client/interrupts.hpp"
#include "jobman/base/time.hpp"
#include "jobman/client/run_on_hosts.hpp"
#include "jobman/client/times.hpp"
#include "jobman/core/run_id.hpp"
#include "jobman/remote/direct_command.hpp"
#include "jobman/ssh/file_limit.hpp"

namespace jobman::client {
namespace {

constexpr std::size_t kLongestName = 40;
base::Error WasEnded() {
  return {.code = base::Code::kCancelled, .message = "interrupted"};
}

ssh::FanOutHost WithCall(const ssh::FanOutHost& host, const remote::Call& call) {
  ssh::FanOutHost one = host;
  one.command = call.command;
  return one;
}

/// A call of the script that failed on a host, in the host's words.
base::Error HostSaid(const std::string& words) {
  const auto status = remote::ParseStatus(words);
  return {.code = base::Code::kAborted,
          .message = status.ok() ? status->text : status.error().message};
}

/// Of a host that did not begin the run. A name that is taken stays taken.
base::Error NotBegun(const std::string& words) {
  base::Error error = HostSaid(words);
  if (error.message.starts_with("there is a run ")) {  // jm_begin of host.sh
    error.code = base::Code::kAlreadyExists;
    error.message += ": choose another --name";
  }
  return error;
}

base::Error NotInstalled(const std::string& words) {
  base::Error error = HostSaid(words);
  error.message = "jobman's script cannot be installed there: " + error.message;
  return error;
}

/// A detached run as it begins on one host.
struct NewRun {
  ExecCommandPtr command = {};
  int host = 0;
  std::string id = {};
  std::string prefix = {};  ///< of the ids of all such runs there

  base::Result<remote::Call> Begin() const {
    JM_ASSIGN_OR_RETURN(remote::CommandEnvironment around, command->Around(host));
    const core::JobSpec* const spec = command->job_env ? &command->job.spec : nullptr;
    const remote::RunOrder order{.run_id = id,
                                 .script = remote::DetachedScript(command->direct, spec),
                                 .log_limit = kExecLogLimit,
                                 .workdir = std::move(around.workdir),
                                 .env = std::move(around.env),
                                 .secrets = std::move(around.secrets)};
    return remote::BeginCall(order, kExecRunsKept, prefix);
  }
  /// It names every host of the slice, so it is made as it is sent. The script refuses an empty
  /// one.
  std::string Order() const {
    auto call = Begin();
    return call.ok() ? std::move(call->input) : std::string();
  }
};

/// Puts the later outcomes in the place of the first.
void Replace(const ssh::FanOutResult& later, ssh::FanOutResult* first) {
  std::map<int, const ssh::HostOutcome*> by_host;
  for (const ssh::HostOutcome& host : later.hosts) by_host[host.host] = &host;
  for (ssh::HostOutcome& host : first->hosts)
    if (const auto found = by_host.find(host.host); found != by_host.end()) host = *found->second;
}

/// Calls that install the script; `talk` keeps what the hosts say.
std::vector<ssh::FanOutHost> Installs(const std::vector<ssh::FanOutHost>& hosts,
                                      const RunTalk& talk) {
  std::vector<ssh::FanOutHost> installs;
  for (const ssh::FanOutHost& host : hosts) {
    installs.push_back({.host = host.host, .target = host.target});
    installs.back().err = KeepTalk(talk, host.host);
    installs.back().command = remote::InstallCall().command;
    installs.back().input = [] { return std::string(remote::PackedHostScript()); };
  }
  return installs;
}

base::Error DoesNotStay() {
  return {.code = base::Code::kAborted, .message = "jobman's script does not stay installed there"};
}

bool IsBare(const ssh::HostOutcome& host) {
  return host.result.ok() && *host.result == remote::kExitNotInstalled;
}

}  // namespace

base::Status CheckExecRunName(const std::string& name) {
  const bool begins = !name.empty() && name.front() != '-' && name.front() != '_';
  if (begins && name.size() <= kLongestName && core::IsRunIdField(name)) return base::Ok();
  return base::InvalidArgument("'" + name + "' cannot be the name of a run",
                               fmt::format("1 to {} letters, digits, _ and -, beginning with a "
                                           "letter or digit",
                                           kLongestName));
}

std::string ExecRunNameAt(base::TimePoint now) {
  std::string name;
  for (const char c : base::FormatRfc3339(now).substr(0, 19))
    if (c != '-' && c != ':') name += c == 'T' ? '-' : c;
  return name;
}

ExecRuns::ExecRuns(const Context& context, const core::Job& job) : context_(context), job_(job) {}

std::string ExecRuns::IdOn(int host, const std::string& name) const {
  return core::ExecRunId(core::OnHost(store_, job_, host), name);
}

/// Calls each host with its own command; where the script is missing, installs it and calls again.
base::Result<ssh::FanOutResult> ExecRuns::Call(std::vector<ssh::FanOutHost> hosts,
                                               const remote::Call& limits,
                                               const ssh::FanOutOptions& options) {
  const auto shell = context_.open_shell(context_.loop->get_executor(), *context_.stores.host_keys);
  Interrupts interrupts(*context_.loop);
  const ports::RemoteCommand same{
      .limit = limits.limit, .silence = limits.silence, .linger = remote::kLinger};
  const auto all = [&](std::vector<ssh::FanOutHost> some) {
    return RunOnHosts(context_, &interrupts, shell.get(), std::move(some), same, options);
  };
  auto first = all(hosts);
  if (!first) return WasEnded();
  std::vector<ssh::FanOutHost> bare;
  for (std::size_t row = 0; row < hosts.size(); ++row)
    if (IsBare(first->hosts[row])) bare.push_back(std::move(hosts[row]));
  if (bare.empty()) return std::move(*first);
  const RunTalk talk = std::make_shared<std::map<int, std::string>>();
  auto installed = all(Installs(bare, talk));
  if (!installed) return WasEnded();
  std::vector<ssh::FanOutHost> ready;
  for (std::size_t row = 0; row < bare.size(); ++row) {
    base::Result<int>& result = installed->hosts[row].result;
    if (result.ok() && *result == 0) ready.push_back(std::move(bare[row]));
    if (result.ok() && *result != 0) result = NotInstalled((*talk)[installed->hosts[row].host]);
    installed->hosts[row].begun = false;
  }
  Replace(*installed, &*first);
  if (ready.empty()) return std::move(*first);
  auto again = all(std::move(ready));
  if (!again) return WasEnded();
  for (ssh::HostOutcome& host : again->hosts) {
    if (!IsBare(host)) continue;
    host.result = DoesNotStay();
    host.begun = false;
  }
  Replace(*again, &*first);
  return std::move(*first);
}

base::Result<ssh::FanOutResult> ExecRuns::Begin(std::vector<ssh::FanOutHost> hosts,
                                                const ExecOrder& order, const std::string& name,
                                                ssh::FanOutOptions options) {
  JM_TRY(CheckExecRunName(name));
  JM_ASSIGN_OR_RETURN(store_, context_.Await(context_.stores.jobs->StoreId()));
  JM_ASSIGN_OR_RETURN(const ExecCommandPtr command, MakeExecCommand(context_, job_, order));
  const RunTalk talk = std::make_shared<std::map<int, std::string>>();
  remote::Call limits;
  for (ssh::FanOutHost& host : hosts) {
    const NewRun run{.command = command,
                     .host = host.host,
                     .id = IdOn(host.host, name),
                     .prefix = core::ExecRunPrefix(core::OnHost(store_, job_, host.host))};
    JM_ASSIGN_OR_RETURN(const remote::Call call, run.Begin());
    limits.limit = call.limit;
    host = WithCall(host, call);
    host.input = [run] { return run.Order(); };
    host.err = KeepTalk(talk, host.host);
  }
  JM_ASSIGN_OR_RETURN(ssh::FanOutResult result, Call(std::move(hosts), limits, options));
  for (ssh::HostOutcome& host : result.hosts) {
    if (!host.result.ok() || *host.result == 0) continue;
    host.result = NotBegun((*talk)[host.host]);
    host.begun = false;
  }
  return result;
}

base::Result<ssh::FanOutResult> ExecRuns::Follow(
    std::vector<ssh::FanOutHost> hosts, const std::string& name, ssh::FanOutOptions options,
    std::function<void(int host, base::FileGap)> missing) {
  JM_TRY(CheckExecRunName(name));
  JM_ASSIGN_OR_RETURN(store_, context_.Await(context_.stores.jobs->StoreId()));
  RunToFollow run{.id_on = [this, name](int host) { return IdOn(host, name); },
                  .name = name,
                  .patience = options.patience.value_or(base::Duration{0}),
                  .window = ssh::HostsAtOnce(options.window),
                  .now = [this] { return context_.clock->Now(); },
                  .missing = std::move(missing)};
  const auto shell = context_.open_shell(context_.loop->get_executor(), *context_.stores.host_keys);
  Interrupts interrupts(*context_.loop);
  auto ended = context_.Await(
      UnlessInterrupted(&interrupts, FollowOnHosts(shell.get(), std::move(hosts), std::move(run))));
  if (ended) return std::move(*ended);
  SendFarewell(*context_.loop);
  return WasEnded();
}

base::Result<ssh::FanOutResult> ExecRuns::Stop(std::vector<ssh::FanOutHost> hosts,
                                               const std::string& name,
                                               ssh::FanOutOptions options) {
  JM_TRY(CheckExecRunName(name));
  JM_ASSIGN_OR_RETURN(store_, context_.Await(context_.stores.jobs->StoreId()));
  const RunTalk talk = std::make_shared<std::map<int, std::string>>();
  const RunTalk trouble = std::make_shared<std::map<int, std::string>>();
  // The script marks a run that it does not know, which then never starts: the name would be lost.
  JM_ASSIGN_OR_RETURN(const std::vector<ExecRunHost> known, List(hosts, options));
  ssh::FanOutResult result;
  std::vector<ssh::FanOutHost> having;
  remote::Call limits;
  for (std::size_t row = 0; row < hosts.size(); ++row) {
    const auto& runs = known[row].runs;
    const auto is_it = [&name](const remote::RunAge& run) { return run.run_id == name; };
    const bool has = runs.ok() && std::any_of(runs->begin(), runs->end(), is_it);
    if (!has) {
      const base::Error why = runs.ok() ? NoSuchRun(name) : runs.error();
      result.hosts.push_back({.host = hosts[row].host, .result = why});
      continue;
    }
    limits = remote::StopCall(IdOn(hosts[row].host, name), job_.spec.command.grace);
    having.push_back(WithCall(hosts[row], limits));
    having.back().out = KeepTalk(talk, hosts[row].host);
    having.back().err = KeepTalk(trouble, hosts[row].host);
  }
  if (having.empty()) return result;
  JM_ASSIGN_OR_RETURN(ssh::FanOutResult stopped, Call(std::move(having), limits, options));
  for (ssh::HostOutcome& host : stopped.hosts) {
    if (host.result.ok() && *host.result != 0)
      host.result = HostSaid((*trouble)[host.host]);
    else if (host.result.ok())
      host.result = CodeOfRun(remote::ParseStatus((*talk)[host.host]), name);
    host.took.reset();  // the time of the call, not of the run
    result.hosts.push_back(std::move(host));
  }
  std::sort(result.hosts.begin(), result.hosts.end(),
            [](const auto& a, const auto& b) { return a.host < b.host; });
  return result;
}

base::Result<std::vector<ExecRunHost>> ExecRuns::List(std::vector<ssh::FanOutHost> hosts,
                                                      ssh::FanOutOptions options) {
  JM_ASSIGN_OR_RETURN(store_, context_.Await(context_.stores.jobs->StoreId()));
  const RunTalk talk = std::make_shared<std::map<int, std::string>>();
  const RunTalk trouble = std::make_shared<std::map<int, std::string>>();
  remote::Call limits;
  for (ssh::FanOutHost& host : hosts) {
    limits = remote::AgesCall(core::ExecRunPrefix(core::OnHost(store_, job_, host.host)));
    host = WithCall(host, limits);
    host.out = KeepTalk(talk, host.host);
    host.err = KeepTalk(trouble, host.host);
  }
  JM_ASSIGN_OR_RETURN(ssh::FanOutResult result, Call(std::move(hosts), limits, options));
  std::vector<ExecRunHost> list;
  for (const ssh::HostOutcome& host : result.hosts) {
    ExecRunHost one{.host = host.host};
    if (!host.result.ok()) {
      one.runs = host.result.error();
    } else if (*host.result != 0) {
      one.runs = HostSaid((*trouble)[host.host]);
    } else {
      const std::string prefix = core::ExecRunPrefix(core::OnHost(store_, job_, host.host));
      for (remote::RunAge run : remote::ParseAges((*talk)[host.host])) {
        if (!run.run_id.starts_with(prefix)) continue;
        run.run_id = run.run_id.substr(prefix.size());
        one.runs->push_back(std::move(run));
      }
    }
    list.push_back(std::move(one));
  }
  return list;
}

}  // namespace jobman::client
