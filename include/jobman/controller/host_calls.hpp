#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "jobman/controller/script_listener.hpp"
#include "jobman/ports/host_shell.hpp"
#include "jobman/remote/host_script.hpp"

/// Calls of the host script, for all that follow, start or stop its runs.
namespace jobman::controller {

using Connected = std::function<base::Task<base::Status>()>;

/// A call of the host script on one host, for CallHost(). It and what it points to belong to who
/// calls, and must outlive the call: a thousand hosts are called at once.
struct HostCall {
  ports::HostShell* shell;
  ports::SharedTarget target;
  const remote::Call* call;
  const ports::ByteSink* out;  ///< takes the output; may be empty
  /// Called with the last 16 KiB of stderr whenever the script reports (ScriptListener).
  std::function<void(std::string_view)> heard = {};
  Now now;
  Connected connected = {};  ///< RemoteCommand::may_begin
};

/// Calls the host script, and installs it where it is missing. The status is read from stderr, also
/// when a call hangs after it. What login shells print before the log of a run is no output of the
/// call.
base::Task<base::Result<remote::RunStatus>> CallHost(const HostCall* call);
/// The command with which a call is made, with the call's limits. One that follows a run says where
/// its log begins (kLogBegins).
ports::RemoteCommand CommandOf(const remote::Call& call);
/// Keeps about the first 16 KiB. `text` must outlive the call.
ports::ByteSink KeepIn(std::string* text);

/// Whether retrying the call is useless.
bool IsPermanent(const base::Error& error);
/// Whether the cause is on this machine, not on the host: the log cannot be written, the ssh-agent
/// is silent, no more files can be opened, or another controller took over. The output waits on the
/// host meanwhile.
bool IsLocalTrouble(const base::Error& error);
/// The wait after try number `tries`: at least half of the bound, since full jitter could hammer a
/// host that is just booting. `unit_random` in [0, 1).
base::Duration ReconnectWait(int tries, double unit_random);

}  // namespace jobman::controller
