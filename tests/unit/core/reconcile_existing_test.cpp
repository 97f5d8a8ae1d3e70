// A node that the user names (tpu.existing): used like a slice of our own, and left as it is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobman/core/job_json.hpp"
#include "tests/support/job_builder.hpp"
#include "tests/support/reconciling.hpp"

namespace jobman::core {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using test::JobBuilder;
using test::Reconciling;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

/// No decision may ask for more.
class OnExisting : public Reconciling {
 public:
  OnExisting() : Reconciling(Spec()) {
    on_step = [](const Job&, const Step& step) {
      for (const Effect& effect : step.effects) {
        EXPECT_FALSE(std::holds_alternative<CreateSlice>(effect));
        EXPECT_FALSE(std::holds_alternative<DeleteSlice>(effect));
      }
    };
  }
  /// Until the command runs on two hosts.
  void Start() {
    Tick();
    Ready(2);
    HostRuns(0);
    HostRuns(1);
  }

 private:
  static Job Spec() {
    Job job = JobBuilder().Direct().Retries({.failure = 1}).Build();
    job.spec.tpu.existing = "my-node";
    job.spec.tpu.accelerator = "v4-16";
    return job;
  }
};

TEST(ReconcileExisting, TheNodeIsLookedForAndGetsOurKey) {
  OnExisting r;
  EXPECT_THAT(r.Tick().effects(), ElementsAre("LookUpSlice my-node"));
  EXPECT_EQ(r.state(), "PROVISIONING");
  EXPECT_EQ(r.job().why, "looking for node my-node in us-central2-b");
  EXPECT_THAT(r.Ready(2).effects(), ElementsAre("AddLogin my-node", "RunStage run of attempt 1"));
  EXPECT_EQ(r.state(), "RUNNING");
  r.HostRuns(0).HostRuns(1).AllEnd();
  EXPECT_EQ(r.state(), "SUCCEEDED");
  EXPECT_TRUE(r.job().slice) << "exec and cp still reach it";
}

TEST(ReconcileExisting, ANodeOfAnotherSizeEndsTheJob) {
  OnExisting r;
  r.Tick();
  r.Ready(4);
  EXPECT_EQ(r.state(), "FAILED");
  EXPECT_EQ(r.As<Done>().error->message,
            "node my-node has 4 hosts, and tpu.accelerator, v4-16, means 2 hosts");
}

TEST(ReconcileExisting, AControllerThatStartsAddsTheKeyToo) {
  OnExisting r;
  r.Start();
  const auto effects = ImpliedEffects(r.job());
  ASSERT_EQ(effects.size(), 2u);
  EXPECT_EQ(effects[0], Effect{AddLogin{r.job().slice->ref}});
}

TEST(ReconcileExisting, ANodeThatIsNotThereEndsTheJob) {
  OnExisting r;
  r.Tick();
  r.NotFound();
  EXPECT_EQ(r.state(), "FAILED");
  EXPECT_EQ(r.As<Done>().error->message, "there is no node my-node in us-central2-b");
  EXPECT_EQ(r.As<Done>().error->hint, "once node my-node is READY: jobman resume 000042");
  EXPECT_FALSE(r.job().slice);
  EXPECT_THAT(r.job().abandoned, IsEmpty());
  EXPECT_THAT(r.WishFor(Wish::kRun).effects(), ElementsAre("LookUpSlice my-node"));
  EXPECT_EQ(r.Ready(2).state(), "RUNNING");
}

TEST(ReconcileExisting, ANodeThatIsStoppedOrTakenAwayEndsTheJob) {
  for (const NodeState lost : {NodeState::kPreempted, NodeState::kStopped}) {
    OnExisting r;
    r.Tick();
    EXPECT_EQ(r.Node(lost).state(), "FAILED");
    EXPECT_FALSE(r.job().slice);

    OnExisting running;
    running.Start();
    running.Node(lost);
    EXPECT_EQ(running.state(), "FAILED");
    EXPECT_THAT(running.effects(), Contains(StartsWith("AbandonStage")));
    EXPECT_FALSE(running.job().slice);
  }
}

TEST(ReconcileExisting, AFailureRunsAgainOnTheSameNode) {
  OnExisting r;
  r.Start();
  r.AllEnd(1).After(minutes{5}).Ready(2);
  EXPECT_EQ(r.state(), "RUNNING");
  EXPECT_EQ(r.job().attempt, 2);
  EXPECT_EQ(r.job().slice->ref.name, "my-node");
}

TEST(ReconcileExisting, DeletingTheJobLeavesTheNode) {
  OnExisting r;
  r.Start();
  r.WishFor(Wish::kDelete);
  r.HostEnds(0, 143).HostEnds(1, 143);
  EXPECT_EQ(r.state(), "DELETED");
  EXPECT_THAT(r.job().why, HasSubstr("; node my-node is left as it is"));
  EXPECT_FALSE(r.job().slice);
  EXPECT_FALSE(NeedsCare(r.job()));
}

/// The node stays, so a run of which nothing is known must not stay on it.
TEST(ReconcileExisting, DeletingTheJobStopsAlsoWhatIsNotKnownToRun) {
  OnExisting r;
  r.Tick();
  r.Ready(2);
  EXPECT_THAT(r.WishFor(Wish::kDelete).effects(), ElementsAre("StopStage run of attempt 1"));
}

TEST(ReconcileExisting, RequeueLooksForTheNodeAgain) {
  OnExisting r;
  r.Start();
  r.WishFor(Wish::kRequeue);
  r.HostEnds(0, 143).HostEnds(1, 143);
  EXPECT_THAT(r.effects(), Contains("LookUpSlice my-node"));
  EXPECT_EQ(r.Ready(2).state(), "RUNNING");
}

TEST(ReconcileExisting, AfterTheEndItIsForgottenWhenItIsDueOrGone) {
  Job job = JobBuilder().Build();
  job.spec.tpu.existing = "my-node";
  job.spec.tpu.accelerator = "v4-8";
  job.spec.when_done = {.action = SliceUse::kDelete};
  Reconciling due(job);
  due.Tick();
  due.Ready(1);
  due.HostRuns(0).AllEnd();
  EXPECT_EQ(due.state(), "SUCCEEDED");
  EXPECT_FALSE(due.job().slice);

  OnExisting gone;
  gone.Start();
  gone.AllEnd();
  gone.clock.Advance(hours{1});
  gone.Absent().Absent();
  EXPECT_THAT(gone.effects(), ElementsAre("LookUpSlice my-node"));
  gone.NotFound();
  EXPECT_EQ(gone.state(), "SUCCEEDED");
  EXPECT_FALSE(gone.job().slice);
  EXPECT_THAT(gone.job().abandoned, IsEmpty()) << "whatever appears there is not ours";
}

TEST(ReconcileExisting, TheRecordKeepsWhoseItIs) {
  OnExisting r;
  r.Start();
  const auto read = SliceFromJson(SliceToJson(*r.job().slice));
  ASSERT_TRUE(read.ok()) << read.error().ToString();
  EXPECT_EQ(*read, *r.job().slice);
}

}  // namespace
}  // namespace jobman::core
