#include "jobman/client/set_wishes.hpp"

#include <gmock/gmock.h>
#include <stdlib.h>

#include "tests/unit/client/client_world.hpp"
#include "tests/unit/client/nudge_listener.hpp"

namespace jobman::client {
namespace {

using core::Wish;
using testing::ElementsAre;
using testing::Pair;
using testing::SizeIs;

class SetWishesTest : public test::ClientWorld {
 protected:
  SetWishesTest() {
    HoldLease();
    ::setenv("SET_WISHES_TOKEN", "value", 1);
    ::unsetenv("SET_WISHES_UNSET");
  }
  ~SetWishesTest() override { ::unsetenv("SET_WISHES_TOKEN"); }
  core::Job Job(core::JobState state, const std::string& name = "train") {
    core::Job job = test::JobBuilder(name).Build();
    job.state = std::move(state);
    job.spec.command.secrets = {{.name = "SET_WISHES_TOKEN"}};
    return Put(std::move(job));
  }
  base::Result<std::vector<Wished>> Set(std::vector<std::string> jobs, Wish wish) {
    return Await(SetWishes(Context(), {.jobs = std::move(jobs), .wish = wish}));
  }
  /// Whether the job already is as wished.
  bool TrueAlready(core::JobId id, Wish wish) {
    const auto wished = Set({core::FormatJobId(id)}, wish);
    EXPECT_TRUE(wished.ok() && wished->size() == 1);
    return wished.ok() && wished->front().true_already;
  }

  test::NudgeListener controller_{loop_, Context().paths.ControllerSocket()};
};

TEST_F(SetWishesTest, TheWishOfEachJobIsRecordedAndTheControllerWoken) {
  const core::Job one = Job(core::Running{});
  const core::Job two = Job(core::Queued{}, "eval");
  const auto wished = Set({"eval", "1"}, Wish::kCancel);
  ASSERT_TRUE(wished.ok()) << wished.error().ToString();
  ASSERT_THAT(*wished, SizeIs(2));
  EXPECT_EQ(wished->at(0).job, two.id);
  EXPECT_EQ(wished->at(1).job, one.id);
  for (const core::JobId id : {one.id, two.id}) {
    EXPECT_EQ(store_.Get(id)->wish, Wish::kCancel);
    EXPECT_TRUE(store_.Get(id)->wish_new);
  }
  EXPECT_THAT(controller_.Take(), SizeIs(1));
}

/// What the command says of it cannot depend on how soon the controller carries the wish out.
TEST_F(SetWishesTest, AWorkerThatIsCancelledOnceEndsItsTaskFirst) {
  core::Job job = Job(core::Running{});
  job.stage = core::Stage{.id = core::TaskStage{.task = "lr1", .run = 1},
                          .task = core::TaskInHand{.definition = {.id = "lr1"}}};
  job = Change(std::move(job));
  const std::string id = core::FormatJobId(job.id);
  EXPECT_EQ(Set({id}, Wish::kCancel)->front().ends_first, "lr1");
  EXPECT_EQ(Set({id}, Wish::kDelete)->front().ends_first, "");
  job.stage->task->last = true;
  job = Change(std::move(job));
  EXPECT_EQ(Set({core::FormatJobId(job.id)}, Wish::kCancel)->front().ends_first, "");
}

TEST_F(SetWishesTest, AnUnknownJobChangesNone) {
  const core::Job job = Job(core::Running{});
  const auto wished = Set({core::FormatJobId(job.id), "nobody"}, Wish::kCancel);
  EXPECT_EQ(wished.error().code, base::Code::kNotFound);
  EXPECT_FALSE(store_.Get(job.id)->wish_new);
}

TEST_F(SetWishesTest, OnlyDeletingNeedsAnUnambiguousName) {
  Job(core::Running{});
  const core::Job newest = Job(core::Running{});
  EXPECT_EQ(Set({"train"}, Wish::kDelete).error().code, base::Code::kInvalidArgument);
  EXPECT_FALSE(store_.Get(newest.id)->wish_new);
  EXPECT_EQ(Set({"train"}, Wish::kCancel)->front().job, newest.id);
}

TEST_F(SetWishesTest, OnlyAJobAtRestIsAlreadyAsWished) {
  EXPECT_TRUE(TrueAlready(Job(core::Done{}).id, Wish::kCancel));
  EXPECT_FALSE(TrueAlready(Job(core::Done{}).id, Wish::kDelete)) << "its slice may be kept";
  EXPECT_FALSE(TrueAlready(Job(core::Done{}).id, Wish::kRun));
  EXPECT_FALSE(TrueAlready(Job(core::Running{}).id, Wish::kCancel));
  const core::Done deleted{.outcome = core::Outcome::kDeleted};
  EXPECT_TRUE(TrueAlready(Job(deleted).id, Wish::kDelete));
}

TEST_F(SetWishesTest, AJobOnItsWayNeedNotBeResumed) {
  EXPECT_TRUE(TrueAlready(Job(core::Running{}).id, Wish::kRun));
  EXPECT_TRUE(TrueAlready(Job(core::Waiting{}).id, Wish::kRun));
  EXPECT_FALSE(TrueAlready(Job(core::Cancelling{}).id, Wish::kRun));
  core::Job stopping = test::JobBuilder("stopping").Build();
  stopping.state = core::Running{};
  stopping.wish = Wish::kCancel;
  EXPECT_FALSE(TrueAlready(Put(stopping).id, Wish::kRun)) << "the controller has not seen the wish";
}

TEST_F(SetWishesTest, SecretsAreSentForJobsThatRunAgain) {
  const core::Job job = Job(core::Done{});
  ASSERT_TRUE(Set({"train"}, Wish::kRun).ok());
  const auto nudges = controller_.Take();
  ASSERT_THAT(nudges, SizeIs(1));
  EXPECT_THAT(nudges[0].secrets.at(job.id.value), ElementsAre(Pair("SET_WISHES_TOKEN", "value")));
  ASSERT_TRUE(Set({"train"}, Wish::kCancel).ok());
  for (const auto& nudge : controller_.Take()) EXPECT_TRUE(nudge.secrets.empty());
}

TEST_F(SetWishesTest, SecretsOfFilesAndWithoutAValueAreNotSent) {
  core::JobSpec spec;
  spec.command.secrets = {{.name = "SET_WISHES_TOKEN"},
                          {.name = "SET_WISHES_UNSET"},
                          {.name = "HOME", .file = "/run/secret"}};
  EXPECT_THAT(SecretValues(spec), ElementsAre(Pair("SET_WISHES_TOKEN", "value")));
}

TEST_F(SetWishesTest, JobsRunAgainUnlessTheyAreCancelledOrDeleted) {
  for (const Wish wish : {Wish::kRun, Wish::kReboot, Wish::kRequeue}) EXPECT_TRUE(RunsAgain(wish));
  for (const Wish wish : {Wish::kCancel, Wish::kDelete}) EXPECT_FALSE(RunsAgain(wish));
}

}  // namespace
}  // namespace jobman::client
