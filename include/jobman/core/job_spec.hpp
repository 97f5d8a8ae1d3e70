#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "jobman/base/result.hpp"
#include "jobman/base/time.hpp"
#include "jobman/core/setup_spec.hpp"
#include "jobman/core/spec_fields.hpp"

namespace jobman::core {

using base::Duration;
using base::TimePoint;

/// How the slice is requested: `tpu.allocation_mode`.
enum class AllocationMode { kQueuedResources, kTpuVm };
/// What it costs and who may take it away: `tpu.pricing`.
enum class Pricing {
  kSpot,
  kOnDemand,
  kPreemptible,
  kReserved,
  kFlexStart,         ///< taken away when max_run_duration is over
  kReservationBound,  ///< of a reservation in calendar mode, taken away with it
};

/// Which hosts: all of them, or these numbers (sorted, no repeats).
struct HostSet {
  bool all = true;
  std::vector<int> numbers = {};
  bool Contains(int host) const;
  friend bool operator==(const HostSet&, const HostSet&) = default;
};

/// The endpoint of the API unless another is set.
inline constexpr const char* kDefaultEndpoint = "https://tpu.googleapis.com";

/// Which cloud, and how to authenticate to it.
struct CloudSpec {
  std::string endpoint = {};  ///< "https://tpu.googleapis.com", "http://127.0.0.1:1234", or "local"
  std::string token_file = {};        ///< file with an access token, read again when it changes
  std::string token_command = {};     ///< shell command that prints an access token
  std::string credentials_file = {};  ///< JSON of Google's tools, such as a service account's key
  std::string impersonate_service_account = {};  ///< to act as, after its delegates: "a@p,b@p"
  static void Fields(auto&& field) {
    field("endpoint", &CloudSpec::endpoint);
    field("token_file", &CloudSpec::token_file);
    field("token_command", &CloudSpec::token_command);
    field("credentials_file", &CloudSpec::credentials_file);
    field("impersonate_service_account", &CloudSpec::impersonate_service_account);
  }
  friend bool operator==(const CloudSpec&, const CloudSpec&) = default;
};

struct TpuSpec {
  /// Name of a node that is there already. What only a request needs has no effect then.
  std::string existing = {};
  AllocationMode allocation_mode = AllocationMode::kQueuedResources;
  Pricing pricing = Pricing::kOnDemand;
  std::string accelerator = {};
  int num_slices = 1;     ///< nodes of this accelerator type; more than one: a multislice
  std::string name = {};  ///< prefix of slice names; empty: the job's name
  std::string project = {};
  std::string zone = {};
  std::string version = {};  ///< runtime version; never empty in a resolved spec
  /// With kReserved or kReservationBound: reservation id or full name; empty: any.
  std::string reservation = {};
  /// For how long the cloud lends the slice; then it takes it away.
  std::optional<Duration> max_run_duration = {};
  std::string network = {};
  std::string subnetwork = {};
  bool external_ips = true;
  std::string service_account = {};
  std::vector<std::string> tags = {};
  std::map<std::string, std::string> labels = {};
  std::map<std::string, std::string> metadata = {};
  std::string startup_script = {};  ///< the script itself, not its path
  /// tpu.valid_until: how long each queued resource may wait, or the time when all waiting ends.
  std::optional<Duration> valid_for = {};
  std::optional<TimePoint> valid_until = {};
  static void Fields(auto&& field) {
    field("existing", &TpuSpec::existing);
    field("allocation_mode", &TpuSpec::allocation_mode);
    field("accelerator", &TpuSpec::accelerator);
    field("num_slices", &TpuSpec::num_slices);
    field("name", &TpuSpec::name);
    field("zone", &TpuSpec::zone);
    field("version", &TpuSpec::version);
    field("pricing", &TpuSpec::pricing);
    field("reservation", &TpuSpec::reservation);
    field("max_run_duration", &TpuSpec::max_run_duration);
    field("network", &TpuSpec::network);
    field("subnetwork", &TpuSpec::subnetwork);
    field("external_ips", &TpuSpec::external_ips);
    field("service_account", &TpuSpec::service_account);
    field("tags", &TpuSpec::tags);
    field("labels", &TpuSpec::labels);
    field("metadata", &TpuSpec::metadata);
    field("startup_script", &TpuSpec::startup_script);
    field("valid_until", OneOf{&TpuSpec::valid_for, &TpuSpec::valid_until});
    field("project", &TpuSpec::project);
  }
  friend bool operator==(const TpuSpec&, const TpuSpec&) = default;
};

/// What to do with a host key that the cloud does not vouch for: `ssh.host_keys`.
enum class HostKeyRule {
  kFirstUse,  ///< the first one seen is pinned
  kStrict,    ///< the host is not logged in to
};
/// Which address of a host is used: `ssh.address`.
enum class AddressChoice {
  kExternal,  ///< the external one; a host without one is reached at its internal one
  kInternal,
};
/// A key of this machine that the hosts get: in ~/.ssh, under its own file's name. It is read when
/// a run starts, and stored nowhere else.
struct Identity {
  std::string private_key = {};   ///< local path
  std::string public_key = {};    ///< local path
  std::string config_entry = {};  ///< lines for ~/.ssh/config
  bool authorize = false;         ///< the hosts let it log in
  static void Fields(auto&& field) {
    field("private_key", &Identity::private_key);
    field("public_key", &Identity::public_key);
    field("config_entry", &Identity::config_entry);
    field("authorize", &Identity::authorize);
  }
  friend bool operator==(const Identity&, const Identity&) = default;
};

struct SshSpec {
  std::string user = {};         ///< login name on the hosts; never empty in a resolved spec
  std::string private_key = {};  ///< path; never empty in a resolved spec
  int port = 22;                 ///< 0: the port that the local simulator reports
  HostKeyRule host_keys = HostKeyRule::kFirstUse;
  AddressChoice address = AddressChoice::kExternal;
  /// Jump hosts, "[user@]host[:port]" with commas between them; empty: none.
  std::string proxy_jump = {};
  /// A command whose standard input and output are the connection; empty: none. At most one of
  /// these two is set.
  std::string proxy_command = {};
  std::vector<Identity> identities = {};
  bool host_to_host = false;  ///< the hosts reach each other by ssh, with a key of the job's own
  bool agent_forwarding = false;  ///< the hosts may use the ssh-agent of this machine
  bool os_login = false;          ///< the key goes into the account's login profile
  static void Fields(auto&& field) {
    field("user", &SshSpec::user);
    field("private_key", &SshSpec::private_key);
    field("port", &SshSpec::port);
    field("host_keys", &SshSpec::host_keys);
    field("address", &SshSpec::address);
    field("proxy_jump", &SshSpec::proxy_jump);
    field("proxy_command", &SshSpec::proxy_command);
    field("identities", &SshSpec::identities);
    field("host_to_host", &SshSpec::host_to_host);
    field("agent_forwarding", &SshSpec::agent_forwarding);
    field("os_login", &SshSpec::os_login);
  }
  friend bool operator==(const SshSpec&, const SshSpec&) = default;
};

struct SetupStep {
  std::string name = {};
  std::string run = {};  ///< shell script
  /// It ends at the first command that fails. On unless the job file says otherwise; a job that
  /// was stored before there was this key keeps what it was created with.
  bool strict = false;
  HostSet hosts = {};
  bool required = true;  ///< false: a failure is noted and the job goes on
  std::optional<Duration> timeout = {};
  static void Fields(auto&& field) {
    field("name", &SetupStep::name);
    field("run", &SetupStep::run);
    field("strict", &SetupStep::strict);
    field("hosts", &SetupStep::hosts);
    field("required", &SetupStep::required);
    field("timeout", &SetupStep::timeout);
  }
  friend bool operator==(const SetupStep&, const SetupStep&) = default;
};

/// Most bytes of "NAME=value" in a program's environment: Linux's MAX_ARG_STRLEN less the final 0.
inline constexpr std::size_t kLongestVariable = std::size_t{128} * 1024 - 1;
/// Most bytes of the variables of a job together: half of what Linux gives to the arguments and the
/// environment of a program where its stack is 8 MiB (execve(2)); the rest is the host's own.
inline constexpr std::size_t kMostVariables = std::size_t{1024} * 1024;

/// A secret of the command. Its value is read when the run starts, travels over stdin, and is never
/// stored.
struct SecretRef {
  std::string name = {};  ///< environment variable on the host
  /// Local file with the value; empty: the local environment variable `name`.
  std::string file = {};
  static void Fields(auto&& field) {
    field("name", &SecretRef::name);
    field("file", &SecretRef::file);
  }
  friend bool operator==(const SecretRef&, const SecretRef&) = default;
};

/// Where a local secret is read, each time it is needed: one of the two is set.
struct SecretSource {
  std::string env = {};   ///< environment variable
  std::string file = {};  ///< path
  bool empty() const { return env.empty() && file.empty(); }
  static void Fields(auto&& field) {
    field("env", &SecretSource::env);
    field("file", &SecretSource::file);
  }
  friend bool operator==(const SecretSource&, const SecretSource&) = default;
};

/// What the command gets when the cloud announces that it will take the machines away.
struct OnNotice {
  std::string signal = "TERM";                ///< TERM, INT, USR1, USR2; none: only the file
  Duration grace = std::chrono::seconds{30};  ///< from the signal until the command is stopped
  static void Fields(auto&& field) {
    field("signal", &OnNotice::signal);
    field("grace", &OnNotice::grace);
  }
  friend bool operator==(const OnNotice&, const OnNotice&) = default;
};

struct CommandSpec {
  std::string cmd = {};  ///< empty: the job holds its slice until it is cancelled
  HostSet workers = {};
  std::string workdir = {};  ///< empty: the home folder; with docker, one in the container
  std::map<std::string, std::string> env = {};
  std::vector<SecretRef> secrets = {};
  Duration grace = std::chrono::seconds{30};  ///< between TERM and KILL
  OnNotice on_notice = {};
  static void Fields(auto&& field) {
    field("cmd", &CommandSpec::cmd);
    field("workers", &CommandSpec::workers);
    field("workdir", &CommandSpec::workdir);
    field("env", &CommandSpec::env);
    field("secrets", &CommandSpec::secrets);
    field("grace", &CommandSpec::grace);
    field("on_notice", &CommandSpec::on_notice);
  }
  friend bool operator==(const CommandSpec&, const CommandSpec&) = default;
};

/// How often the job is retried after each kind of end. Nothing: unlimited.
struct RetrySpec {
  std::optional<int> preemption = {};
  std::optional<int> failure = 0;
  std::optional<int> infra = 10;
  Duration backoff = std::chrono::seconds{15};      ///< first wait, doubled each time, full jitter
  Duration backoff_cap = std::chrono::minutes{10};  ///< longest wait, not below `backoff`
  static void Fields(auto&& field) {
    field("preemption", OrUnlimited{&RetrySpec::preemption});
    field("failure", OrUnlimited{&RetrySpec::failure});
    field("infra", OrUnlimited{&RetrySpec::infra});
    field("backoff", &RetrySpec::backoff);
    field("backoff_cap", &RetrySpec::backoff_cap);
  }
  friend bool operator==(const RetrySpec&, const RetrySpec&) = default;
};

/// What happens after the watchdog has stopped the command on all hosts.
enum class WatchdogAction {
  kRestart,   ///< run it again on the slice; uses retries.infra
  kNewSlice,  ///< delete the slice and run it on a new one; uses retries.infra
  kFail,      ///< fail the job, whatever the retry limits
};

/// Output that means trouble.
struct OutputRule {
  std::string match = {};  ///< base::Regex, looked for in each line
  WatchdogAction action = WatchdogAction::kFail;
  static void Fields(auto&& field) {
    field("match", &OutputRule::match);
    field("do", &OutputRule::action);
  }
  friend bool operator==(const OutputRule&, const OutputRule&) = default;
};

/// When a running command is stopped. Setup steps have time limits of their own.
struct WatchdogSpec {
  std::optional<Duration> no_output = {};  ///< this long without a byte from any host
  /// A hang is usually temporary, not a fault of the machines.
  WatchdogAction on_no_output = WatchdogAction::kRestart;
  std::vector<OutputRule> bad_output = {};  ///< the first that matches a line counts
  std::optional<Duration> max_duration = {};
  /// The limit bounds the cost of a job; a restart would not.
  WatchdogAction on_max_duration = WatchdogAction::kFail;
  static void Fields(auto&& field) {
    field("no_output.after", &WatchdogSpec::no_output);
    field("no_output.do", With{&WatchdogSpec::on_no_output, &WatchdogSpec::no_output});
    field("bad_output", &WatchdogSpec::bad_output);
    field("max_duration.after", &WatchdogSpec::max_duration);
    field("max_duration.do", With{&WatchdogSpec::on_max_duration, &WatchdogSpec::max_duration});
  }
  friend bool operator==(const WatchdogSpec&, const WatchdogSpec&) = default;
};

/// What becomes of the slice once the job is over.
enum class SliceUse { kKeep, kDelete };
struct WhenDoneSpec {
  SliceUse action = SliceUse::kKeep;
  std::optional<Duration> keep = {};  ///< it is kept for this long, then deleted; action is kKeep
  static void Fields(auto&& field) {
    field("do", &WhenDoneSpec::action);
    field("keep", &WhenDoneSpec::keep);
  }
  friend bool operator==(const WhenDoneSpec&, const WhenDoneSpec&) = default;
};

/// The task queue that the job works off: it is a worker. Its slice runs no command, but one task
/// after the other.
struct QueueSpec {
  bool enabled = false;     ///< true in a resolved spec
  std::string config = {};  ///< the queue file, an absolute path; empty: the submitted tasks
  /// The slice is given back when there was nothing to do for so long; nothing: never.
  std::optional<Duration> idle = {};
  static void Fields(auto&& field) {
    field("enabled", &QueueSpec::enabled);
    field("config", &QueueSpec::config);
    field("idle", &QueueSpec::idle);
  }
  friend bool operator==(const QueueSpec&, const QueueSpec&) = default;
};

/// Which of the jobs of one file this is: `array` or `matrix`.
struct ArraySpec {
  int index = 0;           ///< from 0
  int size = 0;            ///< how many jobs the file makes; 0: it makes one, which is no element
  std::string value = {};  ///< of a list of values; empty with a matrix
  bool empty() const { return size == 0; }
  static void Fields(auto&& field) {
    field("index", &ArraySpec::index);
    field("size", &ArraySpec::size);
    field("value", &ArraySpec::value);
  }
  friend bool operator==(const ArraySpec&, const ArraySpec&) = default;
};

/// The copies of the hosts' output on this machine.
struct LogsSpec {
  int max_bytes = 1 << 30;  ///< of the log of one host in one stage; see base::CappedFile
  static void Fields(auto&& field) { field("max_bytes", &LogsSpec::max_bytes); }
  friend bool operator==(const LogsSpec&, const LogsSpec&) = default;
};

/// The events that hooks are told about.
enum class HookEvent {
  kReady,       ///< a slice is ready for the first time
  kStarted,     ///< the command starts, in any attempt
  kPreempted,   ///< the slice was taken away
  kRestarting,  ///< the command or a setup step ended early and is tried again
  kTaskDone,    ///< of a worker: a run of a task succeeded
  kTaskFailed,  ///< of a worker: a run of a task failed, whether or not the task is tried again
  kSucceeded,
  kFailed,
  kCancelled,
};
enum class HookKind { kCommand, kWebhook, kMail, kBrevo };  ///< how it is told

/// A mail that is sent over Brevo's HTTP API.
struct BrevoSpec {
  SecretSource api_key = {};
  std::string sender = {};
  std::string receiver = {};
  bool empty() const { return api_key.empty() && sender.empty() && receiver.empty(); }
  static void Fields(auto&& field) {
    field("api_key", &BrevoSpec::api_key);
    field("sender", &BrevoSpec::sender);
    field("receiver", &BrevoSpec::receiver);
  }
  friend bool operator==(const BrevoSpec&, const BrevoSpec&) = default;
};

/// One thing to do when something happens to the job: a command, a webhook or a mail.
struct HookSpec {
  HookEvent event = HookEvent::kStarted;  ///< the key it is listed under
  std::string command = {};               ///< run by /bin/sh here, with the event on stdin
  std::string folder = {};                ///< where the command runs
  std::string url = {};                   ///< posted to; empty: a secret, see url_from
  SecretSource url_from = {};
  SecretSource token = {};  ///< sent as "Authorization: Bearer"
  std::vector<std::string> mail_to = {};
  BrevoSpec brevo = {};
  Duration timeout = std::chrono::seconds{60};
  HookKind kind() const;
  static void Fields(auto&& field) {
    field("run", &HookSpec::command);
    field("workdir", &HookSpec::folder);
    field("post", OneOf{&HookSpec::url, &HookSpec::url_from});
    field("token", &HookSpec::token);
    field("mail", &HookSpec::mail_to);
    field("brevo", &HookSpec::brevo);
    field("timeout", &HookSpec::timeout);
  }
  friend bool operator==(const HookSpec&, const HookSpec&) = default;
};

enum class SmtpTls { kStartTls, kTls, kNone };
/// The server that hooks send mail through.
struct SmtpSpec {
  std::string host = {};
  int port = 587;
  SmtpTls tls = SmtpTls::kStartTls;
  std::string from = {};
  std::string user = {};
  SecretSource password = {};
  /// No server is set; the other members mean nothing then.
  bool empty() const { return host.empty(); }
  static void Fields(auto&& field) {
    field("host", &SmtpSpec::host);
    field("port", &SmtpSpec::port);
    field("tls", &SmtpSpec::tls);
    field("from", &SmtpSpec::from);
    field("user", &SmtpSpec::user);
    field("password", &SmtpSpec::password);
  }
  friend bool operator==(const SmtpSpec&, const SmtpSpec&) = default;
};

/// A job file, resolved: defaults filled in, interpolation done, paths absolute, everything checked
/// that can be checked without the cloud. Printed as YAML it is a job file that resolves to the
/// same spec.
struct JobSpec {
  std::string name = {};
  std::map<std::string, std::string> labels = {};
  std::map<std::string, std::string> environment = {};  ///< for every setup step and the command
  /// "auto": the name is to get the smallest free number as its suffix. Any other suffix is part of
  /// the names already.
  std::string worker_num = {};
  WhenDoneSpec when_done = {};
  std::string group = {};               ///< of jobs that `max_running` counts together
  std::optional<int> max_running = {};  ///< see JobsAtWork; needs a group
  std::optional<QueueSpec> queue = {};  ///< a worker's; nothing: the job has a command
  ArraySpec array = {};
  /// The element's own values, by name. Each is an environment variable of its steps and command.
  std::map<std::string, std::string> matrix = {};
  std::optional<EnvType> env_type = {};  ///< where the command runs; nothing: kNone
  CloudSpec cloud = {};
  TpuSpec tpu = {};
  SshSpec ssh = {};
  CodeSpec code = {};
  bool allow_cross_region = false;  ///< of buckets: see client::CheckBuckets
  GcsfuseSpec gcsfuse = {};
  NfsSpec nfs = {};
  DockerSpec docker = {};  ///< of the three, only the section that env_type names has values
  CondaSpec conda = {};
  VenvSpec venv = {};
  ChecksSpec checks = {};
  std::vector<SetupStep> setup = {};  ///< between those of the sections: see SetupStage
  CommandSpec command = {};
  RetrySpec retries = {};
  WatchdogSpec watchdog = {};
  LogsSpec logs = {};
  std::vector<HookSpec> hooks = {};  ///< in the order of their events
  SmtpSpec smtp = {};
  static void Fields(auto&& field) {
    field("job.name", &JobSpec::name);
    field("job.environment", &JobSpec::environment);
    field("job.worker_num", &JobSpec::worker_num);
    field("job.env_type", &JobSpec::env_type);
    field("job.labels", &JobSpec::labels);
    field("job.when_done", &JobSpec::when_done);
    field("job.group", &JobSpec::group);
    field("job.max_running", &JobSpec::max_running);
    field("job.queue", &JobSpec::queue);
    field("array", &JobSpec::array);
    field("matrix", &JobSpec::matrix);
    field("cloud", &JobSpec::cloud);
    field("tpu", &JobSpec::tpu);
    field("ssh", &JobSpec::ssh);
    field("code", &JobSpec::code);
    field("allow_cross_region", &JobSpec::allow_cross_region);
    field("gcsfuse", &JobSpec::gcsfuse);
    field("nfs", &JobSpec::nfs);
    field("docker", &JobSpec::docker);
    field("conda", &JobSpec::conda);
    field("venv", &JobSpec::venv);
    field("checks", &JobSpec::checks);
    field("setup", &JobSpec::setup);
    field("command", &JobSpec::command);
    field("retries", &JobSpec::retries);
    field("watchdog", &JobSpec::watchdog);
    field("logs", &JobSpec::logs);
    field("on", &JobSpec::hooks);
    field("smtp", &JobSpec::smtp);
  }
  friend bool operator==(const JobSpec&, const JobSpec&) = default;
};

// The word for each enum value in job files; empty for a value out of range.

std::string_view AllocationModeName(AllocationMode mode);
std::string_view PricingName(Pricing pricing);
std::string_view HostKeyRuleName(HostKeyRule rule);
std::string_view AddressChoiceName(AddressChoice choice);
std::string_view WatchdogActionName(WatchdogAction action);
std::string_view SliceUseName(SliceUse use);
/// What a worker waits for: "a task of /home/ada/tasks.yaml", "a submitted task".
std::string AwaitedTask(const QueueSpec& queue);
std::string_view HookEventName(HookEvent event);
std::string_view SmtpTlsName(SmtpTls tls);
inline std::string_view WordOf(AllocationMode mode) {
  return AllocationModeName(mode);
}
inline std::string_view WordOf(Pricing pricing) {
  return PricingName(pricing);
}
inline std::string_view WordOf(HostKeyRule rule) {
  return HostKeyRuleName(rule);
}
inline std::string_view WordOf(AddressChoice choice) {
  return AddressChoiceName(choice);
}
inline std::string_view WordOf(WatchdogAction action) {
  return WatchdogActionName(action);
}
inline std::string_view WordOf(SliceUse use) {
  return SliceUseName(use);
}
inline std::string_view WordOf(HookEvent event) {
  return HookEventName(event);
}
inline std::string_view WordOf(SmtpTls tls) {
  return SmtpTlsName(tls);
}

/// The value that a word stands for. The values of these enums count from 0.
template <class Enum>
std::optional<Enum> FromWord(std::string_view word) {
  for (int i = 0; !WordOf(static_cast<Enum>(i)).empty(); ++i) {
    if (WordOf(static_cast<Enum>(i)) == word) return static_cast<Enum>(i);
  }
  return std::nullopt;
}
/// "v4-32", or "2 x v4-32" for a multislice.
std::string AcceleratorText(const TpuSpec& tpu);
/// The target of a hook, without secrets: "webhook example.com", "mail to ada@lab.org".
std::string HookTarget(const HookSpec& hook);
/// The values of an element of `array` or `matrix`: "lr=0.1, seed=7", "7"; empty for other jobs.
std::string ElementText(const JobSpec& spec);
/// The hosts of a slice that has so many: "hosts 0-3", "only host 0".
std::string HostsText(int count);
/// "all", or "0,3-7".
std::string HostSetText(const HostSet& hosts);
/// "all", or numbers and ranges "0,3-7"; the error names the part that is wrong.
base::Result<HostSet> ParseHostSet(std::string_view text);

}  // namespace jobman::core
