#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "jobman/base/capped_file.hpp"
#include "jobman/base/result.hpp"
#include "jobman/core/run_id.hpp"

/// Detached runs on a host. A POSIX sh script (src/remote/host.sh) starts commands in sessions of
/// their own and keeps each run's pid, boot id, log and exit code under ~/.jobman/runs/<run id>/.
/// This module renders the calls of that script and parses its output; it sends nothing itself.
///
/// How to use it: send RunCall (or FollowCall after a broken connection) with the number of log
/// bytes already received. Its stdout is the log from there on, byte for byte. When the call ends
/// with 0, ParseStatus(stderr) says how the run ended. After kExitNotInstalled send InstallCall,
/// then repeat the call; a host that was never called is sent WithScript first. Every call is safe
/// to repeat.
///
/// Hosts may share one home folder: see core::RunId, from which all run ids and prefixes are made.
namespace jobman::remote {

using base::Duration;
using base::Result;

/// The host could not carry out the call (home not writable, disk full, input cut short, chips in
/// use). A line "jobman: error ..." or "jobman: busy ..." on stderr says why; see ParseStatus.
inline constexpr int kExitHostError = 96;
/// This version of the script is not installed on the host; nothing happened.
inline constexpr int kExitNotInstalled = 97;

/// The script's text, without its comments.
std::string_view HostScript();
/// The same as gzip(1) packs it, a third of the size.
std::string_view PackedHostScript();
/// "host-<12 hexadecimal digits of its hash>.sh", its file name in ~/.jobman/bin.
std::string HostScriptName();

/// How long after the grace a stop may take before the host is given up. Longer than the script
/// needs to end processes that ignore TERM, so that healthy hosts are never given up (a test
/// compares the two).
inline constexpr Duration kStopMargin = std::chrono::seconds{30};
/// How long a call may take that waits for no process: healthy hosts need milliseconds.
inline constexpr Duration kCallLimit = std::chrono::seconds{30};
/// A call that follows a run has no limit, but the script says at least every ten seconds that it
/// is there (a test compares the two). A host that is silent for this long hangs.
inline constexpr Duration kLongestSilence = std::chrono::seconds{45};

/// How long a call's output may stay open once the script has ended: what the login shell starts in
/// the background (in ~/.bashrc) may hold it for ever.
inline constexpr Duration kLinger = std::chrono::seconds{5};
/// How long the rest of a log is fetched once its run was stopped.
inline constexpr Duration kFetchLimit = std::chrono::minutes{5};

/// A command line for the host's login shell, its stdin, and its limits: see ports::RemoteCommand.
/// Every call has one of the two, since a host may accept logins and never answer.
struct Call {
  std::string command = {};
  std::string input = {};
  std::optional<Duration> limit = {};
  std::optional<Duration> silence = {};
  /// Of a call that follows a run: how long until the script must have said that the run exists.
  std::optional<Duration> start = {};
  /// In place of `input`: makes it once the host is connected, so that a thousand calls that wait
  /// for that do not hold it. May be called again for another try; its error ends the call.
  std::function<Result<std::string>()> late_input = {};
  /// The host was never called, so it may lack the script: the first try is WithScript().
  bool bring_script = false;
};

/// What to run on a host.
struct RunOrder {
  std::string run_id = {};  ///< see IsRunId; the same id is never started twice
  std::string script = {};  ///< for bash (sh if missing), or begins with "#!"
  /// Before the start, other runs on the host whose id has this prefix are stopped as by StopCall,
  /// with `grace`: processes of an earlier attempt may hold the chips. If the prefix ends in a
  /// number, only runs with a smaller one. Empty: none.
  std::string replaces = {};
  Duration grace = {};
  /// Set for a run that needs the chips: the common prefix of the ids of all runs of its job on
  /// this host. Before the start, processes of such runs that hold the chips (their device files,
  /// libtpu's lock file) are ended. While anybody else holds them, nothing is started
  /// (RunStatus::Kind::kBusy) and nothing is ended.
  std::string chips_of = {};
  /// Ids of setup runs that must have succeeded on this host since it booted. Otherwise nothing is
  /// started (RunStatus::Kind::kLapsed).
  std::vector<std::string> setup = {};
  /// If set, the run is told of notices from this machine's metadata server, and gets this signal
  /// (TERM, INT, USR1, USR2, none) on the first imminent one.
  std::string notice_signal = {};
  /// How many bytes of disk its log may take on the host while nobody fetches it: a longer one
  /// loses its middle (RunStatus::Kind::kGap). 0: no limit.
  std::int64_t log_limit = 0;
  /// The run may use the ssh-agent that is forwarded with each call that starts or follows it.
  bool uses_agent = false;
  std::string workdir = {};  ///< empty: the home folder; relative paths and "~/x" start there
  /// Environment of the command. In JOBMAN_* variables a leading "~/" becomes the host's home
  /// folder; all other values are literal.
  std::map<std::string, std::string> env = {};
  /// Like `env`, and takes precedence. Values exist in the process environment only: never in a
  /// file or an argument on the host.
  std::map<std::string, std::string> secrets = {};
};

/// Whether the text is safe as a file name and as a word of any shell, as every run id and prefix
/// must be: 1 to 199 of [A-Za-z0-9._-], beginning with a letter or digit.
bool IsRunId(std::string_view text);

/// Installs the script: stdin is PackedHostScript(). Exit code 0, or kExitHostError.
Call InstallCall();
/// A call that brings the script along, as the beginning of its input: one call in place of three
/// on a host that lacks it. A host that has the script passes over it. One that cannot take it does
/// nothing, and the call ends with kExitNotInstalled.
Call WithScript(Call call);
/// Starts the run unless its id was ever started or stopped, then follows it from byte `offset` of
/// its log. kInvalidArgument for a bad run id or variable name, or a NUL byte.
Result<Call> RunCall(const RunOrder& order, std::int64_t offset);
/// Starts the run and does not follow it; its id must be new on the host. Its `replaces` and
/// `chips_of` do not count. Of the ended runs whose id begins with `prefix` only the latest `keep`
/// stay on the host. The status is on stderr, as of RunCall. kInvalidArgument as there.
Result<Call> BeginCall(const RunOrder& order, int keep, const std::string& prefix);
/// Follows a run from byte `offset` of its log until it has ended.
Call FollowCall(const std::string& run_id, std::int64_t offset);
/// Prints a line "RUN_ID STATUS" for each run on the host whose id has this prefix; see
/// ParseRunningRuns.
Call ListCall(const std::string& prefix);
/// Prints a line "RUN_ID SECONDS STATUS" for each; see ParseAges.
Call AgesCall(const std::string& prefix);
/// TERM to every process of the run, KILL after `grace` (rounded up to seconds); prints the final
/// status on stdout when none is left. A run stopped before its start never starts. Other runs
/// whose id begins with `others` (if not empty) are stopped at the same time. If `others` ends in a
/// number, only runs with a smaller one: a late call must not end a later attempt.
Call StopCall(const std::string& run_id, Duration grace, const std::string& others = {});
/// Tells a running command about a notice: appends a line of JSON to the file JOBMAN_NOTICE_FILE
/// and, unless `signal` is "none", sends that signal to its process group. Each happens once.
/// Prints the status on stdout.
Call NoticeCall(const std::string& run_id, const core::Notice& notice, const std::string& signal);
/// Sent before RunCall if an earlier attempt may have done this run: the host forgets the run,
/// unless it is running or, without `again`, has ended with 0 since boot. Runs of this step with
/// another content are forgotten, too. Exit code 0, or kExitHostError.
Call RenewCall(const std::string& run_id, bool again = false);
/// Asks whether the host has this file; its name is one of IsRunId. The status, on stderr as of
/// RunCall, is kExited or kAbsent.
Call HaveCall(const std::string& file);
/// Sends the file; its content is to be the call's stdin. It is kept if it has this size and hash,
/// and files whose names begin with `replaces` are removed then. The status is kExited, or kError.
Call PutCall(const std::string& file, std::int64_t bytes, const std::string& sha256,
             const std::string& replaces);
/// Another host of the job that has a file.
struct FileGiver {
  std::string address = {};  ///< by which the other hosts reach it
  std::string name = {};     ///< of the file there
};
/// Makes the host fetch the file from there: it may log in to it (ssh.host_to_host). As PutCall(),
/// or kAbsent if that host does not give the file.
Call FetchCall(const std::string& file, std::int64_t bytes, const std::string& sha256,
               const std::string& replaces, const FileGiver& from);
/// How long a transfer may take at least, and more the longer the file is.
inline constexpr Duration kPutLimit = std::chrono::minutes{1};
/// A transfer that is slower, in bytes a second, is given up.
inline constexpr std::int64_t kSlowestPut = 64 << 10;
/// Bytes a second that hosts are to give each other: 5 MB, less the time for the sum. The host
/// script ends a fetch that is slower, so that the call outlives it.
inline constexpr std::int64_t kSlowestFetch = 4'000'000;

/// The name on a host of the code that the job on it has; the start is the same for all snapshots
/// of the job.
std::string CodeFileName(const core::JobOnHost& on, const std::string& sha256);
std::string CodeFilePrefix(const core::JobOnHost& on);
/// Where a host keeps files that were sent: see HaveCall.
inline constexpr const char* kHostFiles = "~/.jobman/files/";

/// The status of a run.
struct RunStatus {
  enum class Kind {
    kRunning,
    kExited,  ///< `exit_code` is valid; 128 + signal when a signal ended it
    kLost,    ///< its processes are gone without an exit code; `text` says why
    kAbsent,  ///< the host knows no such run
    kError,   ///< the host could not answer; `text` says why
    kBusy,    ///< not started: others hold the chips; `text` names them
    kLapsed,  ///< not started: the host was restarted since its setup; `text` names a run of it
    kGap,     ///< a part of the log is gone, see `gap`: follow the run again after it
  };
  Kind kind = Kind::kAbsent;
  int exit_code = 0;
  base::FileGap gap = {};
  std::string text = {};
  friend bool operator==(const RunStatus&, const RunStatus&) = default;
};
/// Parses stdout of StopCall and NoticeCall, or stderr of RunCall and FollowCall: the last status
/// line, whatever login shells print around it.
Result<RunStatus> ParseStatus(std::string_view output);
/// What the script says on stderr of RunCall and FollowCall now and then.
inline constexpr std::string_view kSignOfLife = "jobman: alive\n";
/// Whether stderr of RunCall or FollowCall says that the run exists.
bool SaysRunExists(std::string_view output);
/// Whether it holds a complete line that the script may have written: a status, a sign of life, a
/// notice.
bool HoldsReport(std::string_view output);
/// The last status in it after which the script has nothing more to send. Nothing while the run is
/// running, or when the host could not answer.
std::optional<RunStatus> FinalStatus(std::string_view output);
/// Parses stdout of ListCall: the ids of the runs that are running.
std::vector<std::string> ParseRunningRuns(std::string_view output);
/// A run, and how long ago it was started, by the host's clock.
struct RunAge {
  std::string run_id = {};
  Duration age = {};
  RunStatus status = {};
  friend bool operator==(const RunAge&, const RunAge&) = default;
};
/// Parses stdout of AgesCall; lines that the script did not write are ignored.
std::vector<RunAge> ParseAges(std::string_view output);
/// Parses stderr of RunCall and FollowCall: the worst notice from the host's metadata server.
/// Incomplete lines are ignored.
std::optional<core::Notice> ParseNotice(std::string_view output);

/// The JOBMAN_* variables of a run on host number `host` of the job's slice: JOBMAN_JOB_ID,
/// _ATTEMPT, _RESTART_REASON, _HOST_INDEX, _NUM_HOSTS, _HOSTS (internal addresses, comma
/// separated), _HEAD (the first of them), _SLICE_INDEX, _NUM_SLICES, _CHECKPOINT_DIR (on the host,
/// the same for every attempt and host of the job), _TPU_NAME, _ZONE, _RUN_ID, and _CODE_COMMIT if
/// the code's commit is known. The script adds JOBMAN_RUN_DIR, by which it finds the run's
/// processes again, and JOBMAN_NOTICE_FILE. The caller adds the job's own environment and
/// command.env.
///
/// JAX needs no variable for multi-host on a TPU VM: jax.distributed.initialize() reads the
/// coordinator and process ids from the VM's metadata (JAX documentation, "Multi-process
/// programming"), and libtpu the topology. Setting them here would break that.
std::map<std::string, std::string> RunEnvironment(const core::Job& job, int host,
                                                  const core::RunId& run);

}  // namespace jobman::remote
