#include "jobman/client/submit_tasks.hpp"

#include <gmock/gmock.h>

#include "tests/unit/client/client_world.hpp"
#include "tests/unit/client/nudge_listener.hpp"

namespace jobman::client {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

core::TaskDefinition Named(const std::string& id) {
  return {.id = id, .accelerator = "v4-32", .zone = "us-central2-b", .run = "true\n"};
}

class SubmitTasksTest : public test::ClientWorld {
 protected:
  SubmitTasksTest() { HoldLease(); }
  base::Result<std::vector<Submitted>> Submit(SubmitOrder order) {
    return Await(SubmitTasks(Context(), std::move(order)));
  }
  std::vector<Submitted> MustSubmit(SubmitOrder order) {
    auto submitted = Submit(std::move(order));
    EXPECT_TRUE(submitted.ok()) << submitted.error().ToString();
    return submitted.ok() ? *std::move(submitted) : std::vector<Submitted>{};
  }
  std::vector<core::Task> Stored() {
    const auto queue = Await(store_.stores().queues->OpenQueue(""));
    EXPECT_TRUE(queue.ok());
    return Await(store_.stores().queues->Tasks(*queue, 0))->tasks;
  }
  core::Job Worker(const std::string& file, const std::string& zone = "us-central2-b") {
    core::Job job = test::JobBuilder("worker").Build();
    job.spec.tpu.accelerator = "v4-32";
    job.spec.tpu.zone = zone;
    job.spec.queue = core::QueueSpec{.enabled = true, .config = file};
    return Put(std::move(job));
  }

  test::NudgeListener controller_{loop_, Context().paths.ControllerSocket()};
};

TEST_F(SubmitTasksTest, TheTasksAreStoredInTheirOrderAndTheControllerWoken) {
  const auto submitted = MustSubmit({.tasks = {Named("b"), Named("a")}});
  ASSERT_THAT(submitted, SizeIs(2));
  EXPECT_EQ(submitted[0].task.definition.id, "b");
  const auto stored = Stored();
  ASSERT_THAT(stored, SizeIs(2));
  EXPECT_EQ(stored[0].definition, Named("b"));
  EXPECT_EQ(stored[0].why, "submitted");
  EXPECT_EQ(stored[0].since, clock_.Now());
  EXPECT_EQ(stored[1].definition, Named("a"));
  EXPECT_LT(stored[0].order, stored[1].order);
  EXPECT_THAT(controller_.Take(), SizeIs(1));
}

TEST_F(SubmitTasksTest, LaterOnesFollow) {
  MustSubmit({.tasks = {Named("z")}});
  MustSubmit({.tasks = {Named("a")}});
  EXPECT_EQ(Stored().at(1).definition.id, "a");
}

TEST_F(SubmitTasksTest, ANumberMakesAnIdOfItsOwn) {
  const SubmitOrder order{.tasks = {Named("train")}, .numbered = true};
  EXPECT_EQ(MustSubmit(order).at(0).task.definition.id, "train-001");
  EXPECT_EQ(MustSubmit(order).at(0).task.definition.id, "train-002");
  MustSubmit({.tasks = {Named("train-041"), Named("train-x")}});
  EXPECT_EQ(MustSubmit(order).at(0).task.definition.id, "train-042");
}

TEST_F(SubmitTasksTest, AnIdThatIsTakenIsRefusedAndNothingStored) {
  MustSubmit({.tasks = {Named("lr1")}});
  const auto again = Submit({.tasks = {Named("lr0"), Named("lr1")}});
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().code, base::Code::kAlreadyExists);
  EXPECT_THAT(again.error().message, HasSubstr("already a submitted task lr1"));
  EXPECT_THAT(again.error().hint, HasSubstr("jobman task requeue lr1"));
  EXPECT_THAT(Stored(), SizeIs(1));
  EXPECT_FALSE(Submit({.tasks = {Named("twin"), Named("twin")}}).ok());
}

TEST_F(SubmitTasksTest, SaysWhetherAWorkerWouldTakeIt) {
  Worker("/home/ada/tasks.yaml");
  Worker("", "us-east5-a");
  const auto alone = MustSubmit({.tasks = {Named("a")}});
  EXPECT_FALSE(alone.at(0).has_worker) << "one serves a file, one is in another zone";
  EXPECT_THAT(alone.at(0).waits_for, HasSubstr("no worker of this queue has v4-32"));
  Worker("");
  const auto served = MustSubmit({.tasks = {Named("b")}});
  EXPECT_TRUE(served.at(0).has_worker);
  EXPECT_THAT(served.at(0).waits_for, HasSubstr("waits for 1 worker with v4-32"));
}

}  // namespace
}  // namespace jobman::client
