#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/reconcile/facts.hpp"
#include "core/reconcile/hold.hpp"

namespace jobman::core {

/// A decision in progress: the job, what was observed, and what to do so far.
struct Turn {
  Job job;
  const Facts facts;
  const TimePoint now;
  const Policy& policy;
  const double unit_random;
  std::vector<Effect> effects = {};
  std::vector<EndedAttempt> ended = {};
  std::vector<TaskWrite> tasks = {};
  std::string why = {};
  std::string unstopped = {};  ///< a clause on hosts that could not be asked to stop
  bool set_up = false;         ///< a worker's machines are, as they were seen

  void Say(std::string text) { why = std::move(text); }
  /// Adds the effect, once however often it is called.
  void Do(Effect effect);
  /// Tells the hooks that asked for the event.
  void Tell(HookEvent event, std::string why);
  /// The same of a run of a task that has ended, if hooks may be told of such an end.
  void TellOfTask(const TaskRelease& release, std::string why);
  void Enter(JobState state, std::string why);
  /// Enters a state in which no work is done for the attempt, and ends it.
  void Rest(JobState state, AttemptEnd end, std::string why);
  /// Whether what was observed is about the slice that is held now.
  bool AboutSlice() const;
  /// How it shows that slice.
  SliceView view() const { return AboutSlice() ? facts.view : SliceView::kNotLooked; }
  const std::string& slice_name() const { return job.slice->ref.name; }
};

/// No work is done for an attempt in these states.
bool Rests(const JobState& state);

// --- One function per state. Each may enter another; Settle() repeats until the state is stable.
// ---

// acquire.cpp: from QUEUED to a slice that is ready
void Advance(Turn& turn, const Queued&);
void Advance(Turn& turn, const Requesting&);
void Advance(Turn& turn, const Waiting&);
void Advance(Turn& turn, const Provisioning&);
// acquire.cpp
/// "waiting until slice .. is deleted", and which hosts did not answer: it is deleted all the same.
/// If the cloud refuses that: why, and the cure.
std::string WaitsForDeletion(const Slice& slice);

// stage.cpp: setup steps, the command and tasks
void Advance(Turn& turn, const Setup&);
// worker.cpp: a worker without a task
void Advance(Turn& turn, const Idle&);
void Advance(Turn& turn, const Running&);
// adopt_wish.cpp: stopping and deleting
void Advance(Turn& turn, const Cancelling&);
void Advance(Turn& turn, const Deleting&);
// recover.cpp
void Advance(Turn& turn, const BackingOff&);
void Advance(Turn& turn, const Done&);

/// Applies a new wish of the user.
void AdoptWish(Turn& turn);

// --- What several states do. ---

/// Which budget pays for the next attempt.
enum class Fault { kPreemption, kFailure, kInfra };

/// Why an attempt ends, which budget pays for the next one, and what that one is told.
struct Setback {
  Fault fault = Fault::kInfra;
  AttemptEnd end = {};
  Restart restart = {};
  base::Error error = {};
};
Setback Preempted(base::Error error);
Setback InfraFault(AttemptOutcome outcome, base::Error error);

// recover.cpp
/// Another attempt after a wait, or the end of the job.
void Recover(Turn& turn, Setback setback);
void FailForGood(Turn& turn, base::Error error, int exit_code);
bool TakeFromBudget(Turn& turn, Fault fault);

// give_up.cpp
/// Deletes the slice, or finds it gone. Called again until it is.
void GiveSliceUp(Turn& turn);
void LoseSlice(Turn& turn, Setback setback);
/// This observation shows that nothing runs on the slice any more.
bool SliceIsDead(const Turn& turn);
/// What became of it: "was preempted", "became TERMINATED".
std::string HowTaken(const Turn& turn);

// lent.cpp: slices that the cloud lends for tpu.max_run_duration
/// The slice is lost, if it is, because its time is over.
bool LentTimeIsOver(const Turn& turn);
/// "is over: its run duration of 4h ended".
std::string HowItRanOut(const Turn& turn);
/// When the command is told of the end: early enough for command.on_notice.grace.
std::optional<TimePoint> EndIsToldAt(const Job& job);
/// What it is told, once it is time.
std::optional<Notice> NoticeOfEnd(const Turn& turn);

// doubt.cpp: what listings do not show, or show as lost
/// Asks for the slice by name if listings omit it, or a part of it, or show it as lost.
void AskByName(Turn& turn);
/// The slice was asked for by name. If not, asks: a list alone does not end its use.
bool IsConfirmed(Turn& turn);
/// Nodes that are missing now should be there.
bool MayLackNodes(const Turn& turn);
/// Asked by name, the cloud knows the slice, or a node of it, no more, and no living session to a
/// host says otherwise. A host is believed for Policy::doubt_limit only.
bool IsMissing(const Turn& turn);
/// The same session, against a look that found a part of the slice no more.
bool IsContradicted(const Turn& turn);

// health.cpp: nodes that the service calls unhealthy
/// Nothing is started on the slice.
bool IsUnhealthy(const Turn& turn);
/// Gives the slice up if its repair takes too long; returns whether it did.
bool GaveUpUnhealthy(Turn& turn);
/// The command is not stopped for it. But if a host has not answered for five minutes either, the
/// repair must not take for ever.
bool IsSilentAndUnhealthy(const Turn& turn);

// worker.cpp: a job that serves a queue
/// Every setup step is done: begins the command, or waits for the first task.
void BeginWorkOn(Turn& turn);
/// The stage is over, or its hosts are gone. If it ran a task, that is released: its run is judged
/// by what the stage shows, and by `lost`, which says why its slice or hosts are lost, if they are.
/// Every stage ends here.
void DropStage(Turn& turn, const std::string& lost = {});
/// Releases the task, which all hosts have ended; the worker goes on.
void EndTask(Turn& turn);
/// Whether the stage runs a task that a host, or the watchdog, has failed: it is being stopped for
/// that, and judged by it, whoever stops it then.
bool HasFailedTask(const Stage& stage);
/// The user has asked the worker to end, once its task has.
bool IsDraining(const Job& job);
/// The task that the worker finished was its last. Returns whether it was.
bool EndDrained(Turn& turn, const std::string& what);
/// The spec was replaced while the worker was idle.
void ServeAnew(Turn& turn);

// stage.cpp
void BeginStage(Turn& turn, StageId id);
/// "run ended with exit code 1 on host 3", "host 3 was lost in run: .."
std::string DescribeFailure(const Stage& stage, const HostRun& run);
/// The machines are not what they were: another attempt sets them up.
void StartOver(Turn& turn, const std::string& what_happened);
void StartOverReplaced(Turn& turn);
/// Stops the stage, unless it is already being stopped. The cause replaces an earlier one that it
/// outranks.
void StopFor(Turn& turn, StopCause cause, std::string why);
/// Why the slice is lost, as this observation shows it.
base::Error LossOfSlice(const Turn& turn);
/// The remaining nodes of a multislice are deleted with it, so what runs there is stopped first, as
/// before every deletion. Returns whether to wait for that.
bool StopSurvivors(Turn& turn, const base::Error& error);
/// All machines of the slice were replaced under the stage.
bool AllReplaced(const Turn& turn);

// notice.cpp: the cloud announces that it will take the machines away
/// The notice for the command: with the signal, or without one while the event is only announced.
PassNotice NoticeToPass(const Job& job);
void HandleNotice(Turn& turn);
bool NoticeGraceLasts(const Turn& turn);
/// Whether the command is stopped once its grace after a notice is over.
bool StopsAfterNotice(const Job& job);
void CheckNoticeGrace(Turn& turn);
void EndAfterNotice(Turn& turn, base::Error error);

// watchdog.cpp: the command is given up although it runs
void CheckDuration(Turn& turn);
void HandleAlarm(Turn& turn);
/// Machines that are gone need no stop, and their loss must not give a job that was to end another
/// try.
bool AlarmEndsJobUnstopped(const Turn& turn);
void EndAlarmed(Turn& turn);

}  // namespace jobman::core
