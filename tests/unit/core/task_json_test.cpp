// What the store keeps of a task is read back whole, or not at all.
#include "jobman/core/task_json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/random_spec.hpp"
#include "tests/support/tasks.hpp"

namespace jobman::core {
namespace {

using base::Json;
using testing::HasSubstr;

/// As the store does it: by its text.
template <class T>
T TextAndBack(const T& value, Json (*to_json)(const T&), base::Result<T> (*from)(const Json&)) {
  const auto parsed = base::ParseJson(to_json(value).dump());
  EXPECT_TRUE(parsed.ok());
  auto again = from(*parsed);
  EXPECT_TRUE(again.ok()) << again.error().ToString();
  return again.ok() ? *std::move(again) : T{};
}

Task Again(const Task& task) {
  return TextAndBack(task, TaskToJson, TaskFromJson);
}

base::Error ErrorOfTask(const Json& change) {
  Json json = TaskToJson(test::BusyTask("a"));
  json.merge_patch(change);
  const auto task = TaskFromJson(json);
  EXPECT_FALSE(task.ok()) << change.dump();
  return task.ok() ? base::Error{} : task.error();
}

TEST(TaskJson, EveryMemberIsReadBack) {
  const Task task = test::BusyTask("a");
  EXPECT_EQ(Again(task), task);
  EXPECT_EQ(Again(test::MakeTask("b")), test::MakeTask("b"));
}

TEST(TaskJson, QueueAndVersionAreTheStores) {
  Task task = test::BusyTask("a");
  task.queue = {4};
  task.version = 12;
  EXPECT_EQ(Again(task), test::BusyTask("a"));
}

TEST(TaskJson, EveryStandingIsReadBack) {
  Task task = test::BusyTask("a");
  for (const TaskStanding& standing :
       {TaskStanding{TaskOpen{}}, TaskStanding{TaskDone{.at = test::TaskTime(1)}},
        TaskStanding{TaskDone{.at = test::TaskTime(2), .by_user = true}},
        TaskStanding{TaskParked{.at = test::TaskTime(3)}}}) {
    task.standing = standing;
    EXPECT_EQ(Again(task), task);
  }
}

TEST(TaskJson, AnyDefinitionIsReadBack) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    Task task = test::BusyTask("a");
    test::SpecFiller(seed).Fill(task.definition);
    EXPECT_EQ(Again(task), task) << seed;
  }
}

TEST(TaskJson, AbsentMembersHaveTheirDefaults) {
  const auto task = TaskFromJson({{"definition", {{"id", "a"}}}, {"standing", {{"is", "open"}}}});
  ASSERT_TRUE(task.ok()) << task.error().ToString();
  Task expected;
  expected.definition.id = "a";
  EXPECT_EQ(*task, expected);
}

TEST(TaskJson, WhatANewerJobmanWroteIsNeverATaskToBeRun) {
  for (const Json& change : {Json{{"standing", {{"is", "shelved"}}}}, Json{{"standing", nullptr}},
                             Json{{"claims", {{"job", 7}}}}, Json{{"definition", {{"gpu", 1}}}}}) {
    const base::Error error = ErrorOfTask(change);
    EXPECT_EQ(error.reason, base::Reason::kNewerStore) << change.dump();
    EXPECT_THAT(error.message, HasSubstr("written by a newer jobman: unknown"));
  }
}

TEST(TaskJson, WhatIsNoTaskIsAnError) {
  EXPECT_FALSE(TaskFromJson(Json()).ok());
  EXPECT_FALSE(TaskFromJson(Json::array()).ok());
  EXPECT_FALSE(TaskFromJson(Json::object()).ok());
  EXPECT_THAT(ErrorOfTask(Json{{"since", "yesterday"}}).message, HasSubstr("yesterday"));
  EXPECT_EQ(ErrorOfTask(Json{{"definition", nullptr}}).code, base::Code::kInvalidArgument);
}

TEST(TaskRunJson, IsReadBackWhileItGoesOnAndWhenItHasEnded) {
  TaskRun run{
      .number = 3, .job = JobId{7}, .attempt = 2, .started_at = test::TaskTime(10), .end = {}};
  EXPECT_EQ(TextAndBack(run, TaskRunToJson, TaskRunFromJson), run);
  run.ended_at = test::TaskTime(20);
  for (const TaskEndKind kind : {TaskEndKind::kSucceeded, TaskEndKind::kFailed,
                                 TaskEndKind::kInterrupted, TaskEndKind::kStopped}) {
    run.end =
        TaskEnd{.kind = kind, .slice_lost = true, .why = "slice S was preempted", .commit = "1a2b"};
    EXPECT_EQ(TextAndBack(run, TaskRunToJson, TaskRunFromJson), run);
  }
  Json json = TaskRunToJson(run);
  json["end"]["kind"] = "vanished";
  EXPECT_EQ(TaskRunFromJson(json).error().reason, base::Reason::kNewerStore);
}

}  // namespace
}  // namespace jobman::core
