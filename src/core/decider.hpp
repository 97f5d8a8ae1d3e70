#pragma once

#include <string>
#include <utility>

#include "core/slice_view.hpp"
#include "jobman/core/reconcile.hpp"

namespace jobman::core {

/// Why an attempt ended early, and so which budget pays for the next one.
enum class Fault { kPreemption, kFailure, kInfra };

/// The host was given up because it could not be reached.
bool DidNotAnswer(const HostRun& run);
/// A host that cannot be reached while its siblings can: the machine is dead, whatever the cloud
/// says, and would be in the next attempt too. When none answers it may be our own network.
bool IsDeadAmongTheLiving(const Stage& stage, const HostRun& host);

base::Error NameTaken(const std::string& name);

/// One decision in the making: the job, the effects so far, and why. Each Advance() handles one
/// state (or a family of them) and may enter another; Settle() goes round until the state rests.
class Decider {
 public:
  Decider(Job job, TimePoint now, const Policy& policy, double unit_random)
      : job_(std::move(job)), now_(now), policy_(policy), unit_random_(unit_random) {}

  // observe.cpp: folds an observation into the job
  void Observe(const Tick&) {}
  void Observe(const SliceSeen& seen);
  void NoteSight(const SliceSeen& seen);
  void NoteTaken(const SliceSeen& seen);
  void NoteGivenUp(const SliceSeen& seen);
  void LoseReplaced(const std::vector<int>& hosts);
  void Observe(const LookFailed& failed);
  void Observe(const CreateAnswered& answer);
  void Observe(const OperationFailed& failed);
  void Observe(const DeleteAnswered& answer);
  void Observe(const HostReport& report);
  // watchdog.cpp
  void Observe(const Silence& silence);
  void Observe(const BadOutput& bad);

  // wishes.cpp
  void AdoptWish();

  // reconcile.cpp
  void Settle();
  Step Finish(const Job& before) &&;

 private:
  // acquire.cpp: from QUEUED to a slice that is ready
  void Advance(const Queued&);
  void Advance(const Requesting&) { AdvanceAcquiring(); }
  void Advance(const Waiting&) { AdvanceAcquiring(); }
  void Advance(const Provisioning&) { AdvanceAcquiring(); }
  void AdvanceAcquiring();
  void AdvanceByView();
  bool TooLateToAsk() const;
  void WaitWithTheOthers();
  void AskForSlice();
  void AskAgain();
  void OnAbsentWhileAcquiring();
  void OnPartialWhileAcquiring();
  void OnHuskWhileAcquiring();
  void NoteOnItsWay();
  void CheckProvisioningLimit();
  bool RanOut(const base::Error& error) const;
  base::Error WhyItFailed() const;
  void BeginWork();

  // stage.cpp: setup steps and the command
  void Advance(const Setup&) { AdvanceStage(); }
  void Advance(const Running&) { AdvanceStage(); }
  void AdvanceStage();
  bool SliceIsDead() const;
  bool SliceIsLost();
  base::Error LossOfSlice() const;
  bool StopSurvivors(const base::Error& error);
  void StopMoved();
  void StartOverMoved();
  void CheckStepLimit();
  void StopWhatFailed();
  void EndStage();
  void FailStage();
  void BeginStage(int number);
  void LoseSlice(Fault fault, std::string restart_reason, base::Error error);

  // notice.cpp: the cloud announces that it will take the machines away
  void HeedNotice();
  bool NoticeGraceLasts() const;
  bool StopsAfterNotice() const;
  void CheckNoticeGrace();
  void EndAfterNotice(base::Error error);

  // watchdog.cpp: the command is given up although it runs
  bool MayAlarm(int attempt, const std::string& stage) const;
  void CheckDuration();
  void StopAlarmed();
  bool AlarmEndsJob() const;
  bool EndsJobUnstopped() const;
  void EndAlarmed();

  // wishes.cpp: stopping and deleting
  void Advance(const Cancelling&);
  void Advance(const Deleting&);
  void AfterStop();
  bool StillStopping();
  void NoteUnstopped();

  // recover.cpp
  void Advance(const BackingOff&);
  void Advance(const Done&);
  void Recover(Fault fault, base::Error error);
  void FailForGood(base::Error error, int exit_code);
  bool TakeFromBudget(Fault fault);
  void GiveSliceUp();
  void ForgetSlice();
  bool AbsenceIsFact(TimePoint looked) const;
  bool AskedBefore() const;
  void DropUnansweredRequest();

  void Enter(JobState state, std::string why);
  void Say(std::string why) { why_ = std::move(why); }
  void Do(Effect effect);
  void Tell(HookEvent event, std::string why);
  TimePoint WakeAt() const;
  const std::string& slice_name() const { return job_.slice->ref.name; }

  Job job_;
  TimePoint now_;
  const Policy& policy_;
  double unit_random_;
  SliceView view_ = SliceView::kNotLooked;
  TimePoint looked_at_ = {};                      ///< when the look began that view_ is of
  std::optional<base::Error> create_error_ = {};  ///< this observation: the create was refused
  std::optional<base::Error> slice_error_ = {};   ///< this observation: why the slice failed
  bool suspended_ = false;                        ///< this observation: the queued resource is
  std::vector<int> up_ = {};           ///< this observation: the hosts on nodes that are READY
  bool moved_ = false;                 ///< all machines are others than before
  std::optional<Notice> notice_ = {};  ///< this observation: a notice that is news
  std::vector<Effect> effects_ = {};
  std::string why_ = {};
  std::string unstopped_ = {};  ///< a clause on hosts that could not be asked to stop
};

}  // namespace jobman::core
