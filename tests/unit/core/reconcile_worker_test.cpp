// A job that serves a queue: its slice is set up once and runs one task after the other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobman/core/explain.hpp"
#include "jobman/core/flaw.hpp"
#include "jobman/core/job_json.hpp"
#include "tests/support/job_builder.hpp"
#include "tests/support/reconciling.hpp"
#include "tests/support/sample_task.hpp"

namespace jobman::core {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using test::JobBuilder;
using test::Reconciling;
using test::SampleTask;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// The end in the only thing that the last decision writes of tasks.
TaskEnd EndIn(const Reconciling& r) {
  EXPECT_EQ(r.tasks().size(), 1U);
  const auto* const release =
      r.tasks().empty() ? nullptr : std::get_if<TaskRelease>(&r.tasks().back());
  if (release == nullptr) return {.why = "no release"};
  EXPECT_EQ(release->queue, QueueId{7});
  EXPECT_EQ(release->task, "lr1");
  EXPECT_EQ(release->claim.job, JobId{42});
  EXPECT_EQ(release->claim.run, 1);
  return release->end;
}

/// An idle worker.
Reconciling IdleWorker(JobBuilder builder = JobBuilder().Worker()) {
  Reconciling r(builder.Build());
  r.ToRunning();
  return r;
}

/// A worker that runs SampleTask().
Reconciling BusyWorker(JobBuilder builder = JobBuilder().Worker()) {
  Reconciling r = IdleWorker(std::move(builder));
  r.Offered(SampleTask()).HostRuns(0);
  return r;
}

TEST(ReconcileWorker, WaitsForATaskWhenItIsSetUp) {
  Reconciling r(JobBuilder().Worker().Step("install").Build());
  r.Tick().Answered().Ready();
  EXPECT_EQ(r.state(), "SETUP");
  r.AllEnd();
  EXPECT_EQ(r.state(), "IDLE");
  EXPECT_THAT(r.effects(), IsEmpty());
  EXPECT_EQ(r.job().why, "slice train-000042-a1 is set up: waiting for a task of /lab/tasks.yaml");
  EXPECT_EQ(Explain(r.job(), r.clock.Now()).waits_for, "a task of /lab/tasks.yaml");
  EXPECT_FALSE(r.After(hours{100}).job().stage) << "for ever";
  EXPECT_EQ(r.state(), "IDLE");
}

TEST(ReconcileWorker, TakesATaskThatIsOffered) {
  Reconciling r = IdleWorker();
  r.Offered(SampleTask());
  EXPECT_EQ(r.state(), "RUNNING");
  EXPECT_THAT(r.effects(), ElementsAre("RunStage task-lr1-1 of attempt 1"));
  EXPECT_EQ(r.job().why, "run 1 of task lr1 on 1 of 4 hosts");
  ASSERT_EQ(r.job().stage->hosts.size(), 1U);
  EXPECT_EQ(r.job().stage->task->definition, SampleTask().definition);
  ASSERT_EQ(r.tasks().size(), 1U);
  const auto& change = std::get<TaskChange>(r.tasks()[0]);
  EXPECT_EQ(change.task.runs, 1);
  EXPECT_THAT(
      change.task.claims,
      ElementsAre(TaskClaim{.job = JobId{42}, .attempt = 1, .run = 1, .since = r.clock.Now()}));
}

TEST(ReconcileWorker, PassesAnOfferOverUnlessItIsIdle) {
  Reconciling setup(JobBuilder().Worker().Step("install").Build());
  setup.Tick().Answered().Ready().Offered(SampleTask());
  EXPECT_THAT(setup.tasks(), IsEmpty());
  Reconciling busy = BusyWorker();
  busy.Offered(SampleTask("other"));
  EXPECT_THAT(busy.tasks(), IsEmpty());
  EXPECT_FALSE(busy.changed());
  Reconciling job(JobBuilder().Build());
  job.ToRunning().Offered(SampleTask());
  EXPECT_THAT(job.tasks(), IsEmpty());
}

TEST(ReconcileWorker, PassesOverATaskThatItMayNotRun) {
  Reconciling r = IdleWorker();
  Task elsewhere = SampleTask();
  elsewhere.definition.zone = "europe-west4-b";
  Task paused = SampleTask();
  paused.paused = true;
  for (const Task& task : {elsewhere, paused}) {
    EXPECT_THAT(r.Offered(task).tasks(), IsEmpty());
    EXPECT_EQ(r.state(), "IDLE");
  }
}

TEST(ReconcileWorker, IsIdleAgainWhenTheTaskHasSucceeded) {
  Reconciling r = BusyWorker();
  r.clock.Advance(hours{1});
  r.HostEnds(0);
  EXPECT_EQ(r.state(), "IDLE");
  EXPECT_THAT(r.effects(), IsEmpty());
  EXPECT_EQ(EndIn(r), (TaskEnd{.kind = TaskEndKind::kSucceeded, .why = "exit code 0"}));
  EXPECT_EQ(r.job().why, "run 1 of task lr1 succeeded: exit code 0; waiting for another task");
  EXPECT_EQ(r.job().since, r.clock.Now());
  r.Offered(SampleTask("next"));
  EXPECT_THAT(r.effects(), ElementsAre("RunStage task-next-1 of attempt 1")) << "without setup";
}

TEST(ReconcileWorker, AReleaseEndsTheClaim) {
  Reconciling r = IdleWorker();
  r.Offered(SampleTask());
  const Task claimed = std::get<TaskChange>(r.tasks()[0]).task;
  r.HostRuns(0).HostEnds(0);
  const auto release = std::get<TaskRelease>(r.tasks()[0]);
  const auto after = ReleaseTask(claimed, release.claim, release.end, release.at);
  ASSERT_TRUE(after);
  EXPECT_THAT(after->task.claims, IsEmpty());
  EXPECT_EQ(StateOfTask(after->task, false), TaskState::kDone);
}

TEST(ReconcileWorker, AFailingTaskCostsTheWorkerNothing) {
  Reconciling r = BusyWorker(JobBuilder().Worker().Retries({.failure = 0, .infra = 0}));
  r.HostEnds(0, 3);
  EXPECT_THAT(r.effects(), ElementsAre("StopStage task-lr1-1 of attempt 1"))
      << "what it left behind";
  EXPECT_THAT(r.tasks(), IsEmpty());
  r.HostSettles(0);
  EXPECT_EQ(r.state(), "IDLE");
  EXPECT_EQ(EndIn(r), (TaskEnd{.kind = TaskEndKind::kFailed, .why = "exit code 3 on host 0"}));
  EXPECT_EQ(r.spent(), Spent{});
  EXPECT_THAT(r.ended(), IsEmpty());
}

/// A worker with hooks for both ends of a task, which runs SampleTask().
Reconciling BusyWorkerWithHooks() {
  Job job = JobBuilder().Worker().Build();
  job.spec.hooks = {{.event = HookEvent::kTaskDone, .command = "true"},
                    {.event = HookEvent::kTaskFailed, .command = "true"}};
  Reconciling r(std::move(job));
  r.ToRunning().Offered(SampleTask()).HostRuns(0);
  return r;
}

TEST(ReconcileWorker, HooksAreToldHowATaskEnded) {
  Reconciling done = BusyWorkerWithHooks();
  done.HostEnds(0);
  EXPECT_THAT(done.effects(), ElementsAre("TellHooks task_done of task lr1 of attempt 1"));
  Reconciling failed = BusyWorkerWithHooks();
  failed.HostEnds(0, 3).HostSettles(0);
  EXPECT_THAT(failed.effects(), ElementsAre("TellHooks task_failed of task lr1 of attempt 1"));
}

TEST(ReconcileWorker, HooksAreNotToldOfATaskThatGoesOnElsewhere) {
  Reconciling r = BusyWorkerWithHooks();
  r.HostEnds(0, 143).HostSettles(0);
  EXPECT_EQ(EndIn(r).kind, TaskEndKind::kInterrupted);
  EXPECT_THAT(r.effects(), IsEmpty());
}

TEST(ReconcileWorker, OneWithoutAQueueFileWaitsForASubmittedTask) {
  Job job = JobBuilder().Worker().Build();
  job.spec.queue->config.clear();
  Reconciling r(std::move(job));
  r.ToRunning();
  EXPECT_THAT(r.job().why, HasSubstr("waiting for a submitted task"));
  EXPECT_EQ(Explain(r.job(), r.clock.Now()).waits_for, "a submitted task");
}

TEST(ReconcileWorker, ItsOutputBeatsItsExitCode) {
  Reconciling r = BusyWorker();
  const StageId stage = r.job().stage->id;
  r.See(TaskOutput{.attempt = 1, .stage = stage, .rule = 3});
  r.See(TaskOutput{.attempt = 1, .stage = stage, .rule = 0});
  r.See(TaskOutput{.attempt = 1, .stage = stage, .rule = 2});
  r.See(TaskOutput{.attempt = 1, .stage = TaskStage{.task = "lr1", .run = 9}, .rule = 0});
  EXPECT_EQ(r.job().stage->task->rule, 0) << "the strongest";
  r.AllEnd(1);
  EXPECT_EQ(EndIn(r).kind, TaskEndKind::kSucceeded);
}

TEST(ReconcileWorker, TheFirstCommitThatItsOutputNamesIsRecordedWithTheRun) {
  Reconciling r = BusyWorker();
  const StageId stage = r.job().stage->id;
  r.See(TaskOutput{.attempt = 1, .stage = TaskStage{.task = "lr1", .run = 9}, .commit = "0"});
  r.See(TaskOutput{.attempt = 1, .stage = stage, .commit = "abc"});
  r.See(TaskOutput{.attempt = 1, .stage = stage, .commit = "def"});
  EXPECT_EQ(r.job().stage->task->commit, "abc");
  EXPECT_FALSE(r.job().stage->task->rule);
  r.AllEnd(1);
  EXPECT_EQ(EndIn(r).commit, "abc");
}

TEST(ReconcileWorker, ALostSlicePutsTheTaskBackAtOnce) {
  Reconciling r = BusyWorker(JobBuilder().Worker().Step("install"));
  r.Node(NodeState::kPreempted);
  EXPECT_EQ(r.state(), "BACKOFF");
  EXPECT_EQ(EndIn(r), (TaskEnd{.kind = TaskEndKind::kInterrupted,
                               .slice_lost = true,
                               .why = "slice train-000042-a1 was preempted during task-lr1-1"}));
  EXPECT_THAT(r.ended(), ElementsAre("1 preempted"));
  r.Gone();
  EXPECT_EQ(r.state(), "REQUESTING");
  r.Answered().Ready();
  EXPECT_EQ(r.state(), "SETUP") << "on new machines";
  r.AllEnd();
  EXPECT_EQ(r.state(), "IDLE");
}

TEST(ReconcileWorker, ASliceMayBeLostWhileItIsIdle) {
  Reconciling r = IdleWorker();
  r.Node(NodeState::kPreempted);
  EXPECT_EQ(r.state(), "BACKOFF");
  EXPECT_THAT(r.effects(), ElementsAre("DeleteSlice train-000042-a1"));
  EXPECT_THAT(r.job().why, HasSubstr("was preempted while it was idle"));
  EXPECT_THAT(r.tasks(), IsEmpty());
}

TEST(ReconcileWorker, ALostHostInterruptsTheTask) {
  Reconciling r = BusyWorker();
  r.HostLost(0);
  EXPECT_EQ(r.state(), "BACKOFF");
  EXPECT_EQ(EndIn(r), (TaskEnd{.kind = TaskEndKind::kInterrupted,
                               .slice_lost = true,
                               .why = "host 0 was lost in task-lr1-1"}));
  EXPECT_EQ(r.spent().infra, 1);
}

TEST(ReconcileWorker, ReplacedMachinesAreSetUpAgain) {
  Reconciling idle = IdleWorker(JobBuilder().Worker().Step("install"));
  idle.Ready(4, 1);
  EXPECT_EQ(idle.state(), "SETUP");
  Reconciling busy = BusyWorker(JobBuilder().Worker().Step("install"));
  busy.Ready(4, 1);
  EXPECT_EQ(busy.state(), "SETUP");
  EXPECT_EQ(EndIn(busy).kind, TaskEndKind::kInterrupted);
}

TEST(ReconcileWorker, NothingIsStartedOnASliceInDoubt) {
  Reconciling ill = IdleWorker();
  ill.Unhealthy("UNHEALTHY_TPU").Offered(SampleTask());
  EXPECT_EQ(ill.state(), "IDLE");
  EXPECT_THAT(ill.tasks(), IsEmpty());
  ill.Ready().Offered(SampleTask());
  EXPECT_EQ(ill.state(), "RUNNING");
  Reconciling leaving = IdleWorker();
  leaving.Announced(Notice{.imminent = true, .text = "ONGOING"}).Offered(SampleTask());
  EXPECT_EQ(leaving.state(), "IDLE");
}

TEST(ReconcileWorker, ATaskIsToldOfANotice) {
  Reconciling r = BusyWorker();
  r.HostNotices(0, {.kind = Notice::Kind::kPreemption, .imminent = true, .text = "TRUE"});
  EXPECT_EQ(r.The<PassNotice>().stage, (StageId{TaskStage{.task = "lr1", .run = 1}}));
  r.AllEnd(1);
  EXPECT_EQ(r.state(), "BACKOFF");
  EXPECT_EQ(EndIn(r).kind, TaskEndKind::kInterrupted);
}

TEST(ReconcileWorker, WhatSucceedsAfterANoticeIsDone) {
  Reconciling r = BusyWorker();
  r.HostNotices(0, {.kind = Notice::Kind::kPreemption, .imminent = true, .text = "TRUE"});
  r.HostEnds(0);
  EXPECT_EQ(EndIn(r).kind, TaskEndKind::kSucceeded);
  EXPECT_EQ(r.state(), "BACKOFF") << "the slice is as good as gone";
}

TEST(ReconcileWorker, ATaskForHostsThatAreNotThereFails) {
  Reconciling r = IdleWorker();
  Task task = SampleTask();
  task.definition.workers = {.all = false, .numbers = {0, 7}};
  r.Offered(task);
  EXPECT_EQ(r.state(), "IDLE");
  EXPECT_TRUE(r.changed());
  ASSERT_EQ(r.tasks().size(), 2U);
  const Task claimed = std::get<TaskChange>(r.tasks()[0]).task;
  const auto& release = std::get<TaskRelease>(r.tasks()[1]);
  EXPECT_EQ(release.end.kind, TaskEndKind::kFailed);
  EXPECT_EQ(release.end.why, "its workers name host 7, and a v4-32 has hosts 0-3");
  EXPECT_EQ(ReleaseTask(claimed, release.claim, release.end, release.at)->task.failures, 1);
}

// --- the user's wishes ---

TEST(ReconcileWorker, CancelLetsTheTaskEndFirst) {
  Reconciling r = BusyWorker();
  r.WishFor(Wish::kCancel);
  EXPECT_EQ(r.state(), "RUNNING");
  EXPECT_THAT(r.effects(), IsEmpty());
  EXPECT_EQ(r.job().why,
            "cancelled by the user: task lr1 is finished first, and no other is taken; to stop it "
            "now: jobman cancel 000042");
  EXPECT_EQ(WorkerOf(r.job())->phase, WorkerPhase::kDraining);
  r.HostEnds(0);
  EXPECT_EQ(r.state(), "CANCELLED");
  EXPECT_EQ(EndIn(r).kind, TaskEndKind::kSucceeded);
  EXPECT_THAT(r.ended(), ElementsAre("1 cancelled"));
  EXPECT_EQ(r.job().why, "cancelled by the user; slice train-000042-a1 is kept");
}

TEST(ReconcileWorker, ASecondCancelStopsIt) {
  Reconciling r = BusyWorker();
  r.WishFor(Wish::kCancel).WishFor(Wish::kCancel);
  EXPECT_EQ(r.state(), "CANCELLING");
  EXPECT_THAT(r.effects(), ElementsAre("StopStage task-lr1-1 of attempt 1"));
  r.AllEnd(143);
  EXPECT_EQ(r.state(), "CANCELLED");
  EXPECT_EQ(EndIn(r),
            (TaskEnd{.kind = TaskEndKind::kStopped, .why = "the user stopped its worker"}));
}

TEST(ReconcileWorker, WhatHadFailedIsFailedWhoeverStopsItThen) {
  for (const Wish wish : {Wish::kCancel, Wish::kDelete, Wish::kRequeue}) {
    Reconciling r = BusyWorker();
    r.HostEnds(0, 3).WishFor(wish).HostSettles(0);
    EXPECT_EQ(EndIn(r), (TaskEnd{.kind = TaskEndKind::kFailed, .why = "exit code 3 on host 0"}))
        << WishName(wish);
  }
  Reconciling draining = BusyWorker();
  draining.WishFor(Wish::kCancel).HostEnds(0, 3).WishFor(Wish::kCancel).HostSettles(0);
  EXPECT_EQ(draining.state(), "CANCELLED");
  EXPECT_EQ(EndIn(draining).kind, TaskEndKind::kFailed);
}

TEST(ReconcileWorker, WhatTheWatchdogFailedIsFailedWhoeverStopsItThen) {
  Job job = JobBuilder().Worker().Build();
  job.spec.watchdog.max_duration = hours{1};
  job.spec.watchdog.on_max_duration = WatchdogAction::kFail;
  Reconciling r(job);
  r.ToRunning().Offered(SampleTask()).HostRuns(0).After(hours{1});
  r.WishFor(Wish::kCancel).AllEnd(143);
  EXPECT_EQ(r.state(), "CANCELLED");
  EXPECT_EQ(EndIn(r).kind, TaskEndKind::kFailed);
}

TEST(ReconcileWorker, ResumeTakesACancelBack) {
  Reconciling r = BusyWorker();
  r.WishFor(Wish::kCancel).WishFor(Wish::kRun);
  EXPECT_EQ(r.job().why, "resumed by the user: other tasks follow lr1");
  r.HostEnds(0);
  EXPECT_EQ(r.state(), "IDLE");
}

TEST(ReconcileWorker, ALossWhileItDrainsEndsIt) {
  Reconciling r = BusyWorker();
  r.WishFor(Wish::kCancel).Node(NodeState::kPreempted);
  EXPECT_EQ(r.state(), "CANCELLING");
  EXPECT_EQ(EndIn(r).kind, TaskEndKind::kInterrupted);
  r.Gone();
  EXPECT_EQ(r.state(), "CANCELLED");
  EXPECT_EQ(r.spent().preemption, 0);
}

TEST(ReconcileWorker, AnIdleOneIsCancelledAtOnce) {
  Reconciling r = IdleWorker();
  r.WishFor(Wish::kCancel);
  EXPECT_EQ(r.state(), "CANCELLED");
  r.WishFor(Wish::kRun);
  EXPECT_EQ(r.state(), "PROVISIONING");
  r.Ready();
  EXPECT_EQ(r.state(), "IDLE");
}

TEST(ReconcileWorker, RequeueGivesTheTaskBackAndKeepsTheSlice) {
  Reconciling r = BusyWorker();
  r.WishFor(Wish::kRequeue).AllEnd(143);
  EXPECT_EQ(EndIn(r).kind, TaskEndKind::kStopped);
  EXPECT_EQ(r.state(), "PROVISIONING");
  EXPECT_EQ(r.job().slice->ref.name, "train-000042-a1");
  EXPECT_THAT(r.effects(), IsEmpty());
}

TEST(ReconcileWorker, RequeueForAnotherZoneGivesTheSliceUp) {
  core::Job changed = BusyWorker().job();
  changed.revised = changed.spec;
  changed.revised->tpu.zone = "europe-west4-b";
  Reconciling r(changed);
  r.WishFor(Wish::kRequeue).AllEnd(143);
  ASSERT_TRUE(r.job().slice);
  EXPECT_EQ(r.job().slice->phase, SlicePhase::kDeleting);
}

TEST(ReconcileWorker, DeleteAndRebootGiveTheTaskBack) {
  for (const Wish wish : {Wish::kDelete, Wish::kReboot}) {
    Reconciling r = BusyWorker();
    r.WishFor(wish).AllEnd(143);
    EXPECT_EQ(EndIn(r).kind, TaskEndKind::kStopped) << WishName(wish);
  }
}

TEST(ReconcileWorker, WhatSucceededWhileItWasStoppedIsDone) {
  Reconciling r = BusyWorker();
  r.WishFor(Wish::kDelete).HostEnds(0, 0);
  EXPECT_EQ(EndIn(r).kind, TaskEndKind::kSucceeded);
}

// --- idle time, watchdog, changes ---

TEST(ReconcileWorker, GivesTheSliceBackAfterItsIdleTime) {
  Reconciling r = IdleWorker(JobBuilder().Worker(minutes{30}));
  r.After(minutes{20}).Offered(SampleTask()).HostRuns(0);
  r.clock.Advance(minutes{20});
  r.HostEnds(0).After(minutes{29});
  EXPECT_EQ(r.state(), "IDLE");
  EXPECT_LE(*r.job().wake_at, r.job().since + minutes{30});
  EXPECT_EQ(Explain(r.job(), r.clock.Now()).waits_for,
            "a task of /lab/tasks.yaml; without one, the slice is given back in 1m");
  r.After(minutes{1});
  EXPECT_EQ(r.state(), "SUCCEEDED");
  EXPECT_THAT(r.effects(), ElementsAre("DeleteSlice train-000042-a1"));
  EXPECT_THAT(r.ended(), ElementsAre("1 succeeded"));
  EXPECT_EQ(r.job().why,
            "idle for 30m: slice train-000042-a1 is given back, as job.queue.idle says");
  EXPECT_FALSE(r.Gone().job().slice);
}

TEST(ReconcileWorker, ATaskComesBeforeTheEndOfTheIdleTime) {
  Reconciling r = IdleWorker(JobBuilder().Worker(minutes{30}));
  r.clock.Advance(minutes{31});
  r.Offered(SampleTask());
  EXPECT_EQ(r.state(), "RUNNING");
}

TEST(ReconcileWorker, TheWatchdogEndsTheTaskAndNotTheWorker) {
  Job job = JobBuilder().Worker().Build();
  job.spec.watchdog.max_duration = hours{1};
  job.spec.watchdog.on_max_duration = WatchdogAction::kFail;
  Reconciling r(job);
  r.ToRunning().Offered(SampleTask()).HostRuns(0).After(hours{1});
  EXPECT_THAT(r.effects(), ElementsAre("StopStage task-lr1-1 of attempt 1"));
  r.AllEnd(143);
  EXPECT_EQ(r.state(), "IDLE");
  EXPECT_EQ(EndIn(r), (TaskEnd{.kind = TaskEndKind::kFailed,
                               .why = "watchdog max_duration: the task ran for 1h"}));
}

TEST(ReconcileWorker, AnAlarmOfAnEarlierTaskIsDropped) {
  Job job = JobBuilder().Worker().Build();
  job.spec.watchdog.bad_output = {{.match = "NaN", .action = WatchdogAction::kFail}};
  Reconciling r(job);
  r.ToRunning().Offered(SampleTask()).HostRuns(0);
  const StageId first = r.job().stage->id;
  r.HostEnds(0).Offered(SampleTask("next")).HostRuns(0);
  r.See(BadOutput{.attempt = 1, .line = "NaN", .stage = first});
  EXPECT_FALSE(r.job().stage->stop);
}

TEST(ReconcileWorker, AChangedJobFileIsUsedBetweenTasks) {
  const Reconciling r = IdleWorker(JobBuilder().Worker().Step("install"));
  Job job = r.job();
  job.revised = job.spec;
  job.revised->setup[0].run = "another";
  const Step step = Reconcile(job, Tick{}, r.clock.Now(), r.policy, 0.5);
  EXPECT_EQ(StateName(step.job.state), "PROVISIONING");
  EXPECT_EQ(step.job.attempt, 2);
  EXPECT_EQ(step.job.spec.setup[0].run, "another");
  EXPECT_FALSE(step.job.slice->setup_done);
}

// --- records ---

TEST(ReconcileWorker, ItsStageIsStored) {
  Reconciling r = BusyWorker();
  const StageId stage = r.job().stage->id;
  r.See(TaskOutput{.attempt = 1, .stage = stage, .commit = "1a2b"});
  r.See(TaskOutput{.attempt = 1, .stage = stage, .rule = 5}).WishFor(Wish::kCancel);
  const auto read = StageFromJson(StageToJson(*r.job().stage));
  ASSERT_TRUE(read.ok()) << read.error().ToString();
  EXPECT_EQ(*read, *r.job().stage);
  EXPECT_TRUE(read->task->last);
}

TEST(ReconcileWorker, ContradictionsAreFlaws) {
  Job job = IdleWorker().job();
  job.spec.queue.reset();
  EXPECT_EQ(FlawOf(job), "IDLE, but it serves no queue");
  const Job busy = BusyWorker().job();
  job = busy;
  job.stage->task.reset();
  EXPECT_EQ(FlawOf(job), "a task runs of which nothing is known");
  job = busy;
  job.stage->task->definition.id = "other";
  EXPECT_EQ(FlawOf(job), "it runs another task than it knows");
  job = busy;
  job.stage->id = TaskStage{.task = "lr1", .run = 0};
  EXPECT_EQ(FlawOf(job), "the run of its task has no number");
}

TEST(ReconcileWorker, ACommandAppearsToNoQueue) {
  EXPECT_FALSE(WorkerOf(JobBuilder().Build()));
  EXPECT_EQ(WorkerOf(JobBuilder().Worker().Build())->phase, WorkerPhase::kPreparing);
  const auto idle = WorkerOf(IdleWorker().job());
  EXPECT_EQ(*idle, (TaskWorker{.job = JobId{42},
                               .attempt = 1,
                               .accelerator = "v4-32",
                               .zone = "us-central2-b",
                               .phase = WorkerPhase::kIdle}));
  EXPECT_EQ(WorkerOf(BusyWorker().job())->phase, WorkerPhase::kBusy);
}

TEST(ReconcileWorker, AnotherControllerGoesOnWithTheTask) {
  const Reconciling r = BusyWorker();
  EXPECT_EQ(ImpliedEffects(r.job()),
            (std::vector<Effect>{RunStage{
                .attempt = 1, .stage = TaskStage{.task = "lr1", .run = 1}, .again = true}}));
  EXPECT_THAT(ImpliedEffects(IdleWorker().job()), IsEmpty());
}

}  // namespace
}  // namespace jobman::core
