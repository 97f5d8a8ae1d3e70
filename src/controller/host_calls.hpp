#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "jobman/ports/host_shell.hpp"
#include "jobman/remote/host_script.hpp"

namespace jobman::controller {

/// Calls the host script, which is installed where it is missing. `out` takes what the call writes;
/// `heard` is called with what came on stderr so far, the last 16 KiB of it, whenever more comes.
/// The status is the one on stderr.
base::Task<base::Result<remote::RunStatus>> CallHost(ports::HostShell* shell,
                                                     ports::HostTarget target, remote::Call call,
                                                     ports::ByteSink out,
                                                     std::function<void(std::string_view)> heard);
/// Keeps what is written, up to some 16 KiB. `text` must outlive the call.
ports::ByteSink KeepIn(std::string* text);

/// No repetition of the call helps.
bool IsPermanent(const base::Error& error);
/// The trouble is here, not on the host: its log cannot be written, or another controller does it.
/// The output waits on the host meanwhile.
bool IsLocalTrouble(const base::Error& error);
/// Before the try after try number `tries`. Half of the bound at least: full jitter may hammer a
/// host that is just booting. `unit_random` in [0, 1).
base::Duration ReconnectWait(int tries, double unit_random);

}  // namespace jobman::controller
