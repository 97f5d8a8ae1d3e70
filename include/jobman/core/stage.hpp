#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "jobman/base/rare.hpp"
#include "jobman/core/built_in.hpp"
#include "jobman/core/job_spec.hpp"
#include "jobman/core/slice.hpp"
#include "jobman/core/task_definition.hpp"

namespace jobman::core {

/// A setup step: first those of BuiltInsOf(), then those of JobSpec::setup and LastBuiltInsOf().
struct SetupStage {
  int index = 0;
  friend auto operator<=>(const SetupStage&, const SetupStage&) = default;
};
struct CommandStage {
  friend auto operator<=>(const CommandStage&, const CommandStage&) = default;
};
/// A run of a task, by a worker.
struct TaskStage {
  std::string task = {};  ///< its id
  int run = 0;            ///< the number of the run: TaskClaim::run
  friend auto operator<=>(const TaskStage&, const TaskStage&) = default;
};
/// What runs on several hosts at once.
using StageId = std::variant<SetupStage, CommandStage, TaskStage>;

bool IsCommand(const StageId& id);
bool IsTask(const StageId& id);
bool IsSetup(const StageId& id);
/// "the command", "the task": how sentences call what is no setup step.
std::string WhatRuns(const StageId& id);
/// The setup step it is; nullptr for the command and a task. A built-in step has no `run`.
const SetupStep* StepOf(const JobSpec& spec, const StageId& id);
/// The section of the job file whose setup step it is; nothing for steps of `setup`, the command
/// and a task.
std::optional<BuiltIn> BuiltInOf(const JobSpec& spec, const StageId& id);
int CountSteps(const JobSpec& spec);
/// The names of all setup steps, in their order.
std::vector<std::string> StepNames(const JobSpec& spec);
/// "setup-0-install", "run", "task-lr1-3" (run 3 of task lr1): names the log folder, and the stage
/// everywhere a user sees it.
std::string StageName(const JobSpec& spec, const StageId& id);
/// "setup-0", "run", "task-lr1-3": without the name of the step.
std::string StageWord(const StageId& id);
/// Whether the stage named `a` runs before the one named `b`: setup steps by their number, the
/// command or a task last.
bool RunsBefore(const std::string& a, const std::string& b);
/// Whether `word` means the stage of this name: the name itself, or that of its setup step in the
/// job file ("install" for "setup-0-install").
bool IsStageCalled(std::string_view name, std::string_view word);

/// One host's part in a stage.
enum class HostPhase {
  kPending,  ///< not started yet, or being connected to
  kRunning,
  kExited,  ///< exit_code is valid
  kLost,    ///< the run vanished (reboot, kill) or the host was given up as unreachable
};
struct HostRun {
  int host = 0;
  HostPhase phase = HostPhase::kPending;
  bool started = false;  ///< the run is known to have been started
  int exit_code = 0;
  /// kLost: why; earlier: why it cannot be reached; kExited: why it could not be asked to stop.
  base::Rare<base::Error> error = {};
  /// When the stage is being stopped: the host has confirmed that nothing is left of the run,
  /// including processes the command left behind; or it was given up.
  bool settled = false;
  std::optional<TimePoint> silent_since = {};  ///< no contact since then despite attempts
  std::int64_t scanned = 0;           ///< bytes of its log, whole lines, that the watchdog has read
  std::optional<Notice> notice = {};  ///< what the host's metadata server announced
  friend bool operator==(const HostRun&, const HostRun&) = default;
};
bool Ended(const HostRun& run);
/// "host 3", "hosts 0-2,7"; shortened beyond 60 characters: "hosts 0,2,4,... (512)".
std::string HostNames(const std::vector<int>& sorted_numbers);
/// Lost, or ended with a non-zero exit code.
bool Failed(const HostRun& run);
/// The host was given up because it could not be reached, or did not answer.
bool DidNotAnswer(const HostRun& run);
/// The host could not be reached: refused, timed out, no answer at all.
bool IsUnreachable(const base::Error& error);

// --- Why a stage is stopped before it ends by itself. ---

/// The first host that failed: the others would wait for it for ever.
struct HostFailed {
  int host = 0;
  friend bool operator==(const HostFailed&, const HostFailed&) = default;
};
/// The cloud's notice was passed on and the command outlived its grace period.
struct NoticeGraceOver {
  friend bool operator==(const NoticeGraceOver&, const NoticeGraceOver&) = default;
};
/// The setup step passed its time limit.
struct StepTimedOut {
  friend bool operator==(const StepTimedOut&, const StepTimedOut&) = default;
};
/// Some machines were replaced: the stage starts over on all of them.
struct MachinesReplaced {
  friend bool operator==(const MachinesReplaced&, const MachinesReplaced&) = default;
};
/// A watchdog rule was broken. Decides what follows the stage, whatever the exit codes.
struct Alarm {
  std::string rule = {};  ///< "no_output", "bad_output", "max_duration"
  WatchdogAction action = WatchdogAction::kFail;
  std::string text = {};         ///< what was seen, a sentence that names rule and line
  std::optional<int> host = {};  ///< whose line it was
  friend bool operator==(const Alarm&, const Alarm&) = default;
};
/// The slice lost a node, so it is lost as a whole.
struct NodeLost {
  base::Error error = {};
  friend bool operator==(const NodeLost&, const NodeLost&) = default;
};
/// The user wants it stopped.
struct StoppedByUser {
  friend bool operator==(const StoppedByUser&, const StoppedByUser&) = default;
};
using StopCause = std::variant<HostFailed, NoticeGraceOver, StepTimedOut, MachinesReplaced, Alarm,
                               NodeLost, StoppedByUser>;

/// Whether the later cause replaces the earlier one in deciding what follows the stage.
bool Outranks(const StopCause& later, const StopCause& earlier);

/// The command was told that the machines will be taken away. However it ends after that is not a
/// failure.
struct Told {
  Notice notice = {};
  TimePoint at = {};
  std::optional<int> first_failed = {};  ///< the first host that failed since
  friend bool operator==(const Told&, const Told&) = default;
};

/// What a worker has at hand while it runs a task. What the queue file says meanwhile does not
/// touch it.
struct TaskInHand {
  QueueId queue = {};
  TaskDefinition definition = {};  ///< as it was when the task was claimed
  /// The least RuleForLine() of its output so far; nothing: no rule matched.
  std::optional<int> rule = {};
  std::string commit = {};  ///< at which its repository is; empty until its output says so
  /// The user has asked the worker to end: it takes no other task after this one.
  bool last = false;
  friend bool operator==(const TaskInHand&, const TaskInHand&) = default;
};

/// A stage of the current attempt: a setup step, the command, or a task. There is one at a time.
struct Stage {
  StageId id = CommandStage{};
  std::string name = {};  ///< StageName() when it began
  int generation = 0;     ///< Slice::generation when it began
  std::vector<HostRun> hosts = {};
  TimePoint started_at = {};
  std::optional<Told> told = {};             ///< of the command or a task only
  std::optional<StopCause> stop = {};        ///< it is being stopped, and why
  std::optional<TimePoint> stop_since = {};  ///< since when
  std::optional<TaskInHand> task = {};       ///< of a TaskStage, and of no other
  friend bool operator==(const Stage&, const Stage&) = default;

  /// Every host has ended; when the stage is being stopped, nothing of it is left there either.
  bool Over() const;
  /// At least one host has not ended.
  bool AnyRuns() const;
  bool AllSucceeded() const;
  /// The alarm of the watchdog that stops it; nullptr when something else does, or nothing.
  const Alarm* alarm() const;
};

/// The host whose failure decides the outcome of the stage: the first that failed, as far as is
/// known; nullptr when none did.
const HostRun* Culprit(const Stage& stage);
/// "run ended with exit code 1 on host 3"
std::string ExitText(int host, const std::string& stage, int exit_code);
/// The host cannot be reached while others of the stage can, or it accepts the login and hangs: the
/// machine is dead, whatever the cloud says, and would be in the next attempt too. When none can be
/// reached it may be our own network.
bool IsDeadHost(const Stage& stage, const HostRun& host);

/// "pending", "running", "exited", "lost".
std::string_view HostPhaseName(HostPhase phase);
std::optional<HostPhase> HostPhaseFromName(std::string_view name);

}  // namespace jobman::core
