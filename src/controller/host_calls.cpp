#include "jobman/controller/host_calls.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "jobman/base/backoff.hpp"
#include "jobman/base/late_text.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/controller/times.hpp"

namespace jobman::controller {
namespace {

constexpr std::size_t kKept = 16'384;
constexpr base::Backoff kReconnect = {.base = kFirstReconnect, .cap = kLongestReconnect};

base::Error Unavailable(std::string message) {
  return {.code = base::Code::kUnavailable, .message = std::move(message)};
}

/// The login shell reads ~/.bashrc also for a command.
base::Error ShellEnded(int code) {
  base::Error error = Unavailable(
      fmt::format("the host's login shell ended with {} before jobman's script began", code));
  error.hint = "look for exit and exec in ~/.bashrc on the host";
  return error;
}

/// They would fill `talk` in time.
void DropSignsOfLife(std::string& talk) {
  if (base::Contains(talk, remote::kSignOfLife))
    talk = base::ReplaceAll(talk, remote::kSignOfLife, "");
}

/// A run that ended, or was stopped, before the host hung is what it is. After a connection that
/// broke some output may be missing; then the host is asked again.
base::Result<remote::RunStatus> AfterError(base::Error error, const std::string& talk) {
  if (error.reason != base::Reason::kHostHangs) return error;
  if (const auto status = remote::FinalStatus(talk)) return *status;
  return error;
}

/// A dozen kilobytes, of which hosts that wait for their turn need no copy each.
remote::Call LateInstall() {
  remote::Call install = remote::InstallCall();
  static_cast<void>(std::exchange(install.input, {}));
  install.late_input = []() -> base::Result<std::string> {
    return std::string(remote::PackedHostScript());
  };
  return install;
}

/// The exit code; what the host says goes to `err`, in signs of life to `listener`. Apart, as a
/// thousand coroutines that follow a run need no room for it.
base::Task<base::Result<int>> Install(const HostCall* of, std::optional<ScriptListener>* listener,
                                      ports::ByteSink err) {
  const remote::Call install = LateInstall();
  listener->emplace(of->target->address, install, of->now);
  ports::RemoteCommand installing = CommandOf(install);
  co_return co_await of->shell->Run(of->target, std::move(installing), {}, std::move(err));
}

/// Of try number `tries`, from 0 on.
ports::RemoteCommand TryOf(const HostCall& of, int tries) {
  if (tries > 0) return CommandOf(*of.call);
  ports::RemoteCommand command =
      of.call->bring_script ? CommandOf(remote::WithScript(*of.call)) : CommandOf(*of.call);
  command.may_begin = of.connected;
  return command;
}

}  // namespace

base::Task<base::Result<remote::RunStatus>> CallHost(const HostCall* call) {
  std::string talk;
  std::optional<ScriptListener> listener;
  const ports::ByteSink from_script = [&listener, call](std::string_view bytes) -> base::Status {
    return listener->TakeOut(bytes, *call->out);
  };
  const ports::ByteSink err = [&talk, &listener, call](std::string_view bytes) -> base::Status {
    talk.append(bytes);
    JM_ASSIGN_OR_RETURN(const bool report, listener->TakeErr(bytes, *call->out));
    if (report && call->heard) call->heard(talk);
    DropSignsOfLife(talk);
    if (talk.size() > kKept) talk.erase(0, talk.size() - kKept);
    return base::Ok();
  };
  for (int tries = 0; tries < 2; ++tries) {
    talk.clear();
    listener.emplace(call->target->address, *call->call, call->now);
    // Made before it is awaited: the temporaries of its arguments need no room while it runs.
    auto running = call->shell->Run(call->target, TryOf(*call, tries), from_script, err);
    const auto ran = co_await std::move(running);
    if (!ran.ok()) co_return AfterError(ran.error(), talk);
    const int code = *ran;
    if (base::Trim(talk).empty() && code != remote::kExitNotInstalled) co_return ShellEnded(code);
    if (code == 0 || code == remote::kExitHostError) co_return remote::ParseStatus(talk);
    if (code != remote::kExitNotInstalled) {
      co_return Unavailable(fmt::format("the host script ended with {}: {}", code, talk));
    }
    talk.clear();
    auto install = Install(call, &listener, err);
    JM_CO_ASSIGN_OR_RETURN(const int installed, co_await std::move(install));
    if (installed != 0) co_return remote::ParseStatus(talk);
  }
  co_return Unavailable("the host script does not stay installed");
}

ports::RemoteCommand CommandOf(const remote::Call& call) {
  ports::RemoteCommand command{.command = call.command,
                               .input = call.input,
                               .limit = call.limit,
                               .silence = call.silence,
                               .linger = remote::kLinger};
  if (call.start) command.command = std::string(kSayLogBegins) + call.command;
  if (call.late_input) command.next_input = base::LateText(call.late_input, ports::kMostInput);
  return command;
}

ports::ByteSink KeepIn(std::string* text) {
  return [text](std::string_view bytes) -> base::Status {
    if (text->size() < kKept) text->append(bytes);
    return base::Ok();
  };
}

bool IsPermanent(const base::Error& error) {
  return error.reason == base::Reason::kHostKeyChanged ||
         error.reason == base::Reason::kKeyUnreadable ||
         error.code == base::Code::kInvalidArgument ||
         error.code == base::Code::kFailedPrecondition;
}

bool IsLocalTrouble(const base::Error& error) {
  // kResourceExhausted: of open files or memory here; no host answers with that code.
  return error.code == base::Code::kResourceExhausted || error.reason == base::Reason::kDiskFull ||
         error.reason == base::Reason::kNotWritable || error.reason == base::Reason::kLeaseLost ||
         error.reason == base::Reason::kAgentSilent;
}

base::Duration ReconnectWait(int tries, double unit_random) {
  return kReconnect.Bound(tries) / 2 + kReconnect.FullJitter(tries, unit_random) / 2;
}

}  // namespace jobman::controller
