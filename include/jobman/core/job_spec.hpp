#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "jobman/base/result.hpp"
#include "jobman/base/time.hpp"

namespace jobman::core {

using base::Duration;
using base::TimePoint;

/// How the slice is asked for: `tpu.allocation_mode`.
enum class AllocationMode { kQueuedResources, kTpuVm };
/// What it costs and who may take it away: `tpu.pricing`.
enum class Pricing { kSpot, kOnDemand, kPreemptible, kReserved };

/// Which hosts: all of them, or these numbers (sorted, no repeats).
struct HostSet {
  bool all = true;
  std::vector<int> numbers = {};
  bool Contains(int host) const;
  friend bool operator==(const HostSet&, const HostSet&) = default;
};

/// Which cloud, and how to prove who we are to it.
struct CloudSpec {
  std::string endpoint = {};  ///< "https://tpu.googleapis.com", "http://127.0.0.1:1234", or "local"
  std::string token_file = {};     ///< file with an access token, read again when it changes
  std::string token_command = {};  ///< shell command that prints an access token
  friend bool operator==(const CloudSpec&, const CloudSpec&) = default;
};

struct TpuSpec {
  AllocationMode allocation_mode = AllocationMode::kQueuedResources;
  Pricing pricing = Pricing::kOnDemand;
  std::string accelerator = {};
  int num_slices = 1;     ///< nodes of that accelerator type; more than one are a multislice
  std::string name = {};  ///< prefix of slice names; empty: the job's name
  std::string project = {};
  std::string zone = {};
  std::string version = {};      ///< runtime version; never empty in a resolved spec
  std::string reservation = {};  ///< with kReserved: reservation id or full name; empty: any
  std::string network = {};
  std::string subnetwork = {};
  bool external_ips = true;
  std::string service_account = {};
  std::vector<std::string> tags = {};
  std::map<std::string, std::string> labels = {};
  std::map<std::string, std::string> metadata = {};
  std::string startup_script = {};  ///< the script itself, not its path
  /// tpu.valid_until: a queued resource may wait for so long, or all of them until then.
  std::optional<Duration> valid_for = {};
  std::optional<TimePoint> valid_until = {};
  friend bool operator==(const TpuSpec&, const TpuSpec&) = default;
};

struct SshSpec {
  std::string user = {};         ///< login name on the hosts; never empty in a resolved spec
  std::string private_key = {};  ///< path; never empty in a resolved spec
  int port = 22;                 ///< 0: the port that the local simulator tells
  friend bool operator==(const SshSpec&, const SshSpec&) = default;
};

struct SetupStep {
  std::string name = {};
  std::string run = {};  ///< shell script
  HostSet hosts = {};
  bool required = true;  ///< a failure of an optional step is noted, and the job goes on
  std::optional<Duration> timeout = {};
  friend bool operator==(const SetupStep&, const SetupStep&) = default;
};

/// A secret is named; its value is read when the run starts, travels over stdin, and is stored
/// nowhere.
/// Bytes of "NAME=value" in a program's environment: MAX_ARG_STRLEN of Linux, less the final 0.
inline constexpr std::size_t kLongestVariable = std::size_t{128} * 1024 - 1;

struct SecretRef {
  std::string name = {};  ///< environment variable on the host
  std::string file =
      {};  ///< local file with the value; empty: the local environment variable `name`
  bool empty() const { return name.empty() && file.empty(); }
  friend bool operator==(const SecretRef&, const SecretRef&) = default;
};

/// What the command gets when the cloud says that it is about to take the machines away.
struct OnNotice {
  std::string signal = "TERM";                ///< TERM, INT, USR1, USR2; none: only the file
  Duration grace = std::chrono::seconds{30};  ///< from the signal until the command is stopped
  friend bool operator==(const OnNotice&, const OnNotice&) = default;
};

struct CommandSpec {
  std::string cmd = {};
  HostSet workers = {};
  std::string workdir = {};  ///< on the host, "" is the home folder
  std::map<std::string, std::string> env = {};
  std::vector<SecretRef> secrets = {};
  Duration grace = std::chrono::seconds{30};  ///< between TERM and KILL
  OnNotice on_notice = {};
  friend bool operator==(const CommandSpec&, const CommandSpec&) = default;
};

/// How often each kind of end is answered by a new attempt. Nothing: without limit.
struct RetrySpec {
  std::optional<int> preemption = {};
  std::optional<int> failure = 0;
  std::optional<int> infra = 10;
  Duration backoff = std::chrono::seconds{15};  ///< first wait, doubled each time, full jitter
  Duration backoff_cap = std::chrono::minutes{10};
  friend bool operator==(const RetrySpec&, const RetrySpec&) = default;
};

/// What the watchdog does with a command that goes wrong: stop it on all hosts, then this.
enum class WatchdogAction {
  kRestart,   ///< run it again on the slice; retries.infra pays
  kNewSlice,  ///< give the slice up and run it on another; retries.infra pays
  kFail,      ///< the job has failed, whatever the budgets hold
};

/// Output that means trouble.
struct OutputRule {
  std::string match = {};  ///< base::Regex, looked for in each line
  WatchdogAction action = WatchdogAction::kFail;
  friend bool operator==(const OutputRule&, const OutputRule&) = default;
};

/// When the command is given up although it runs. Setup steps have time limits of their own.
struct WatchdogSpec {
  std::optional<Duration> no_output = {};  ///< so long without a byte from any host
  /// A hang is of that moment more often than of the machines.
  WatchdogAction on_no_output = WatchdogAction::kRestart;
  std::vector<OutputRule> bad_output = {};  ///< the first that matches a line counts
  std::optional<Duration> max_duration = {};
  /// It bounds what a job may cost: to begin anew would not.
  WatchdogAction on_max_duration = WatchdogAction::kFail;
  friend bool operator==(const WatchdogSpec&, const WatchdogSpec&) = default;
};

/// What a hook is told of.
enum class HookEvent {
  kStarted,     ///< the command starts, in any attempt
  kPreempted,   ///< the slice was taken away
  kRestarting,  ///< the command or a setup step ended early and is tried again
  kSucceeded,
  kFailed,
  kCancelled,
};
enum class HookKind { kCommand, kWebhook, kMail };

/// One thing to do when something happens to the job.
struct HookSpec {
  HookEvent event = HookEvent::kStarted;
  HookKind kind = HookKind::kCommand;
  std::string command = {};  ///< for /bin/sh on this machine, the event on stdin
  std::string folder = {};   ///< where it runs: that of the file it stands in
  std::string url = {};      ///< posted to; empty: it is a secret, url_from
  SecretRef url_from = {};
  SecretRef token = {};  ///< sent as "Authorization: Bearer"
  std::vector<std::string> mail_to = {};
  Duration timeout = std::chrono::seconds{60};
  friend bool operator==(const HookSpec&, const HookSpec&) = default;
};

enum class SmtpTls { kStartTls, kTls, kNone };
/// The server that takes the mail of hooks.
struct SmtpSpec {
  std::string host = {};
  int port = 587;
  SmtpTls tls = SmtpTls::kStartTls;
  std::string from = {};
  std::string user = {};
  SecretRef password = {};
  friend bool operator==(const SmtpSpec&, const SmtpSpec&) = default;
};

/// A job file, resolved: defaults filled in, interpolation done, paths absolute, everything valid
/// as far as it can be known without asking the cloud.
struct JobSpec {
  std::string name = {};
  std::map<std::string, std::string> labels = {};
  std::map<std::string, std::string> environment = {};  ///< of every setup step and the command
  std::optional<int> worker_num = {};                   ///< expected number of hosts, if given
  CloudSpec cloud = {};
  TpuSpec tpu = {};
  SshSpec ssh = {};
  std::vector<SetupStep> setup = {};
  CommandSpec command = {};
  RetrySpec retries = {};
  WatchdogSpec watchdog = {};
  std::vector<HookSpec> hooks = {};
  SmtpSpec smtp = {};
  friend bool operator==(const JobSpec&, const JobSpec&) = default;
};

/// "queued-resources", "tpu-vm"; "spot", "ondemand", "preemptible", "reserved".
std::string_view AllocationModeName(AllocationMode mode);
std::string_view PricingName(Pricing pricing);
std::optional<AllocationMode> AllocationModeFromName(std::string_view name);
std::optional<Pricing> PricingFromName(std::string_view name);
/// "restart", "new_slice", "fail".
std::string_view WatchdogActionName(WatchdogAction action);
std::optional<WatchdogAction> WatchdogActionFromName(std::string_view name);
/// "v4-32", or "2 x v4-32" for a multislice.
std::string AcceleratorText(const TpuSpec& tpu);
/// "started", "preempted", ...: as in `on.started`, and in the events.
std::string_view HookEventName(HookEvent event);
std::optional<HookEvent> HookEventFromName(std::string_view name);
std::span<const HookEvent> HookEvents();
/// "command", "webhook", "mail".
std::string_view HookKindName(HookKind kind);
std::optional<HookKind> HookKindFromName(std::string_view name);
/// "starttls", "tls", "none".
std::string_view SmtpTlsName(SmtpTls tls);
std::optional<SmtpTls> SmtpTlsFromName(std::string_view name);
/// Whom a hook tells, in words that hold no secret: "webhook example.com", "mail to ada@lab.org".
std::string HookTarget(const HookSpec& hook);
/// "all", or "0,3-7".
std::string HostSetText(const HostSet& hosts);
/// "all", or numbers and ranges "0,3-7"; the error names the part that is wrong.
base::Result<HostSet> ParseHostSet(std::string_view text);

}  // namespace jobman::core
