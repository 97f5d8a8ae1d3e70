#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "jobman/base/result.hpp"
#include "jobman/core/run_id.hpp"

/// Detached runs on a host. A POSIX sh script (src/remote/host.sh) starts commands in sessions of
/// their own and keeps each run's pid, boot id, log and exit code under ~/.jobman/runs/<run id>/.
/// This module renders the calls of that script and parses its answers; it sends nothing itself.
///
/// How to drive a host: send RunCall (or FollowCall after a broken connection) with the number of
/// log bytes already held. Its stdout is the log from there on, byte for byte. When the call ends
/// with 0, ParseStatus(stderr) tells how the run ended. After kExitNotInstalled send InstallCall,
/// then the same call again. Every call is safe to repeat.
///
/// Hosts may share one home folder: see core::RunId, of which every run id and prefix here is made.
namespace jobman::remote {

using base::Duration;
using base::Result;

/// The host could not do what was asked (home not writable, disk full, cut payload, chips in use).
/// A line "jobman: error ..." or "jobman: busy ..." on stderr says why; see ParseStatus.
inline constexpr int kExitHostError = 96;
/// The script is not installed on the host (or another version is); nothing happened.
inline constexpr int kExitNotInstalled = 97;

/// The script's text.
std::string_view HostScript();
/// "host-<12 hexadecimal digits of its hash>.sh", its file name in ~/.jobman/bin.
std::string HostScriptName();

/// A command line for the host's login shell, and what to send to its stdin.
struct Call {
  std::string command = {};
  std::string input = {};
};

/// What to run on a host.
struct RunOrder {
  std::string run_id = {};  ///< see IsRunId; the same id is never started twice
  std::string script = {};  ///< for bash (sh where there is none), or begins with "#!"
  /// Before the start, other runs on the host whose id begins so are stopped, as StopCall does,
  /// with `grace`: what an earlier attempt left behind may hold the chips. If it ends in a number,
  /// only those whose number is smaller. Empty: none.
  std::string replaces = {};
  Duration grace = {};
  /// Set for a run that needs the chips: what the ids of all runs of its job on this host begin
  /// with. Before the start, processes of such runs are ended where they hold the chips (their
  /// device files, libtpu's lock file). While anybody else holds them, nothing starts
  /// (RunStatus::Kind::kBusy), and nobody is harmed.
  std::string chips_of = {};
  /// Set: the run is told of notices of this machine's metadata server, and gets this signal (TERM,
  /// INT, USR1, USR2, none) for the first that is imminent.
  std::string notice_signal = {};
  std::string workdir = {};  ///< "" is the home folder; a relative path or "~/x" starts there
  /// Visible to the command. In JOBMAN_* variables a leading "~/" becomes the host's home folder;
  /// every other value is literal.
  std::map<std::string, std::string> env = {};
  /// Like `env`, and wins over it. Values live in the process environment only: never in a file or
  /// an argument on the host.
  std::map<std::string, std::string> secrets = {};
};

/// Whether it is safe as a file name and as a word of any shell, which every run id and prefix is:
/// 1 to 199 of [A-Za-z0-9._-], the first a letter or digit.
bool IsRunId(std::string_view text);

/// Installs the script: stdin is the script. Exit code 0, or kExitHostError.
Call InstallCall();
/// Starts the run if its id was never started (nor stopped), then follows it from byte `offset` of
/// its log. kInvalidArgument for a bad run id, a variable name that is none, or a NUL byte.
Result<Call> RunCall(const RunOrder& order, std::int64_t offset);
/// Follows a run from byte `offset` of its log until it has ended.
Call FollowCall(const std::string& run_id, std::int64_t offset);
/// Prints a line "RUN_ID STATUS" for each run that the host knows whose id begins so; see
/// ParseRunningRuns.
Call ListCall(const std::string& prefix);
/// TERM to every process of the run, KILL after `grace` (rounded up to seconds); prints the final
/// status on stdout when none is left. A run that is stopped before its start never starts. Other
/// runs whose id begins with `others` are stopped at the same time, when that is not empty. If it
/// ends in a number, only those whose number is smaller: a call that comes late ends no later
/// attempt.
Call StopCall(const std::string& run_id, Duration grace, const std::string& others = {});
/// Tells a running command of a notice: a line of JSON in the file JOBMAN_NOTICE_FILE, and unless
/// `signal` is "none", that signal to its process group. Both once. Prints the status on stdout.
Call NoticeCall(const std::string& run_id, const core::Notice& notice, const std::string& signal);
/// Before RunCall of a run that an earlier attempt may have done: makes the host forget it, unless
/// it is running or ended with 0 since the host booted. Exit code 0, or kExitHostError.
Call RenewCall(const std::string& run_id);
/// How a run stands.
struct RunStatus {
  enum class Kind {
    kRunning,
    kExited,  ///< `exit_code` holds; 128 + signal when a signal ended it
    kLost,    ///< its processes are gone and left no exit code; `text` says why
    kAbsent,  ///< the host knows no such run
    kError,   ///< the host could not answer; `text` says why
    kBusy,    ///< not started: others hold the chips; `text` names them
  };
  Kind kind = Kind::kAbsent;
  int exit_code = 0;
  std::string text = {};
  friend bool operator==(const RunStatus&, const RunStatus&) = default;
};
/// From the stdout of StopCall and NoticeCall, or the stderr of RunCall and FollowCall: the last
/// line that is a status, whatever login shells print around it.
Result<RunStatus> ParseStatus(std::string_view output);
/// From the stdout of ListCall: the ids of the runs that are running.
std::vector<std::string> ParseRunningRuns(std::string_view output);
/// From the stderr of RunCall and FollowCall: what the host was told by its metadata server, the
/// worst of it. Lines that are not complete are left out.
std::optional<core::Notice> ParseNotice(std::string_view output);

/// The JOBMAN_* variables of a run on host number `host` of the job's slice: JOBMAN_JOB_ID,
/// _ATTEMPT, _RESTART_REASON, _HOST_INDEX, _NUM_HOSTS, _HOSTS (internal addresses, comma
/// separated), _HEAD (the first of them), _SLICE_INDEX, _NUM_SLICES, _CHECKPOINT_DIR (on the host,
/// the same for every attempt and every host of the job), _TPU_NAME, _ZONE, _RUN_ID. The script
/// adds JOBMAN_RUN_DIR, by which it finds the run's processes again, and JOBMAN_NOTICE_FILE. The
/// job's own environment and command.env are the caller's to add.
///
/// JAX needs no variable for multi-host on a TPU VM: jax.distributed.initialize() takes the
/// coordinator and process ids from the VM's metadata (JAX documentation, "Multi-process
/// programming"); and libtpu takes the topology from there. Setting them here would break that.
std::map<std::string, std::string> RunEnvironment(const core::Job& job, int host,
                                                  const core::RunId& run);

}  // namespace jobman::remote
