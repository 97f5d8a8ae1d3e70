#include "store/task_rows.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobman/store/sqlite_store.hpp"
#include "tests/support/direct_store.hpp"
#include "tests/support/sample_job.hpp"
#include "tests/support/tasks.hpp"
#include "tests/support/temp_dir.hpp"

namespace jobman::store {
namespace {

using base::Code;
using base::Reason;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// A store with the tasks "a" and "b".
class TaskRowsTest : public testing::Test {
 protected:
  TaskRowsTest() {
    const std::vector<core::Task> tasks = {test::MakeTask("a"), test::MakeTask("b", 1)};
    EXPECT_TRUE(store_.SyncQueue(queue_, {}, tasks, 0).ok());
  }
  Database Open() const {
    return Database::Open((dir_ / "jobman.db").string(), SQLITE_OPEN_READWRITE).value();
  }
  /// Changes the rows without the store.
  void Sql(const std::string& sql) const { ASSERT_TRUE(Open().RunScript(sql, "testing").ok()); }
  /// Why "a" is set aside after that; "b" is read.
  std::string WhyAfter(const std::string& sql) const {
    Sql(sql);
    const ports::TasksRead read = store_.Tasks(queue_, 0).value();
    EXPECT_THAT(read.tasks, SizeIs(1)) << sql;
    EXPECT_THAT(read.set_aside, SizeIs(1)) << sql;
    return read.set_aside.empty() ? "" : read.set_aside[0].why;
  }

  test::TempDir dir_;
  test::DirectStore store_{SqliteStore::Open(dir_.path(), OpenMode::kReadWrite).value()};
  core::QueueId queue_ = store_.OpenQueue("/home/ada/tasks.yaml").value();
};

TEST_F(TaskRowsTest, AStandingOfANewerJobmanIsNeverATaskToBeRun) {
  EXPECT_EQ(WhyAfter("UPDATE tasks SET task_json = json_set(task_json, '$.standing.is', 'shelved') "
                     "WHERE id = 'a'"),
            "written by a newer jobman: unknown standing of a task \"shelved\"");
  const base::Error error = store_.GetTask(queue_, "a").error();
  EXPECT_EQ(error.reason, Reason::kNewerStore);
  EXPECT_THAT(error.ToString(), HasSubstr("reading task a"));
}

TEST_F(TaskRowsTest, AKeyOfANewerJobmanIsNotForgotten) {
  EXPECT_EQ(
      WhyAfter("UPDATE tasks SET task_json = json_set(task_json, '$.definition.container', 'x') "
               "WHERE id = 'a'"),
      "written by a newer jobman: unknown key \"container\"");
}

TEST_F(TaskRowsTest, ADamagedRowIsSetAside) {
  EXPECT_THAT(WhyAfter("UPDATE tasks SET task_json = '{' WHERE id = 'a'"),
              HasSubstr("a row of the store is damaged"));
  EXPECT_EQ(store_.GetTask(queue_, "a").error().code, Code::kDataLoss);
  EXPECT_THAT(WhyAfter("UPDATE tasks SET task_json = '3' WHERE id = 'a'"),
              HasSubstr("a task is a JSON object"));
  EXPECT_EQ(WhyAfter("UPDATE tasks SET task_json = (SELECT task_json FROM tasks WHERE id = 'b') "
                     "WHERE id = 'a'"),
            "its record is that of task b");
}

TEST_F(TaskRowsTest, ARunThatCannotBeReadIsAnErrorOfItsTaskOnly) {
  Sql("INSERT INTO task_runs VALUES (1, 'a', 1, '{\"number\":1,\"end\":{\"kind\":\"lost\"}}')");
  const base::Error error = store_.Runs(queue_, "a").error();
  EXPECT_EQ(error.reason, Reason::kNewerStore);
  EXPECT_THAT(error.ToString(), HasSubstr("reading the runs of task a"));
  EXPECT_THAT(store_.Runs(queue_, "b").value(), IsEmpty());
  EXPECT_THAT(store_.Tasks(queue_, 0)->tasks, SizeIs(2));
}

TEST_F(TaskRowsTest, DamagedNotesDoNotHideTheQueue) {
  Sql("UPDATE queues SET notes_json = '{', error = 'tasks.yaml is gone'");
  const auto queues = store_.Queues().value();
  ASSERT_THAT(queues, SizeIs(1));
  EXPECT_EQ(queues[0].reading.error, "tasks.yaml is gone");
  EXPECT_THAT(queues[0].reading.refused, IsEmpty());
}

TEST_F(TaskRowsTest, TextThatIsNotUtf8IsStored) {
  core::Task task = store_.GetTask(queue_, "a").value();
  task.why = "bad \xff byte";
  ASSERT_TRUE(store_.ChangeTasks({task}).ok());
  EXPECT_THAT(store_.GetTask(queue_, "a")->why, testing::StartsWith("bad "));
}

TEST_F(TaskRowsTest, OfManyTasksNoneIsLostAndEachIsWhole) {
  std::vector<core::Task> tasks;
  for (int i = 2; i < 3001; ++i) tasks.push_back(test::MakeTask(std::to_string(i), i));
  ASSERT_TRUE(store_.SyncQueue(queue_, {}, tasks, 0).ok());
  Sql("UPDATE tasks SET version = 7 WHERE id = '2999'");
  Sql("UPDATE tasks SET task_json = '{' WHERE id IN ('a', '2998')");
  const ports::TasksRead read = store_.Tasks(queue_, 0).value();
  ASSERT_THAT(read.tasks, SizeIs(2999));
  for (std::size_t i = 1; i < read.tasks.size(); ++i) {
    EXPECT_LT(read.tasks[i - 1].order, read.tasks[i].order);
  }
  EXPECT_EQ(read.tasks[2997].definition.id, "2999");
  EXPECT_EQ(read.tasks[2997].version, 7);
  EXPECT_EQ(read.tasks[2997].queue, queue_);
  ASSERT_THAT(read.set_aside, SizeIs(2));
  EXPECT_EQ(read.set_aside[0].id, "2998");
  EXPECT_EQ(read.set_aside[1].id, "a");
}

/// How SQLite finds the rows: by an index, or by looking at all of them.
std::string PlanOf(Database& db, const char* sql) {
  static std::string text;  // Prepare() keeps the pointer
  text = std::string("EXPLAIN QUERY PLAN ") + sql;
  Query query = db.Prepare(text.c_str(), "testing").value();
  EXPECT_TRUE(query.Step().value());
  for (int unused = 0; unused < 3; ++unused) query.Int();
  return query.Text();
}

TEST_F(TaskRowsTest, ManyTasksMakeNoWriteAndNoNewsSlower) {
  for (const auto& [sql, plan] :
       {std::pair{SelectTasksSql(), "INDEX tasks_change (queue=? AND change>?)"},
        std::pair{UpdateTaskSql(), "(queue=? AND id=?)"}}) {
    Database db = Open();
    EXPECT_THAT(PlanOf(db, sql), HasSubstr(plan));
  }
}

}  // namespace
}  // namespace jobman::store
