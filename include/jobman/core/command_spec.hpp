#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "jobman/base/result.hpp"
#include "jobman/base/time.hpp"
#include "jobman/core/spec_fields.hpp"

namespace jobman::core {

using base::Duration;

// What runs on the hosts, and for how long: the sections `setup`, `command`, `retries` and
// `watchdog` of a job file.

/// Which hosts: all of them, or these numbers (sorted, no repeats).
struct HostSet {
  bool all = true;
  std::vector<int> numbers = {};
  bool Contains(int host) const;
  friend bool operator==(const HostSet&, const HostSet&) = default;
};
/// "all", or "0,3-7".
std::string HostSetText(const HostSet& hosts);
/// "all", or numbers and ranges "0,3-7"; the error names the part that is wrong.
base::Result<HostSet> ParseHostSet(std::string_view text);
/// The hosts of a slice that has so many: "hosts 0-3", "only host 0".
std::string HostsText(int count);

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

// The word for each enum value in job files; empty for a value out of range.

std::string_view WatchdogActionName(WatchdogAction action);
inline std::string_view WordOf(WatchdogAction action) {
  return WatchdogActionName(action);
}

}  // namespace jobman::core
