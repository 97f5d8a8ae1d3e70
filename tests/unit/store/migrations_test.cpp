#include "store/migrations.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobman/base/files.hpp"
#include "jobman/base/json.hpp"
#include "jobman/store/sqlite_store.hpp"
#include "tests/support/direct_store.hpp"
#include "tests/support/sample_job.hpp"
#include "tests/support/tasks.hpp"
#include "tests/support/temp_dir.hpp"

namespace jobman::store {
namespace {

using base::Reason;
using testing::SizeIs;

constexpr int kCreate = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;

Database Memory() {
  return Database::Open(":memory:", kCreate).value();
}

std::int64_t Count(Database& db, const char* sql) {
  Query query = db.Prepare(sql, "testing").value();
  EXPECT_TRUE(query.Step().value());
  return query.Int();
}

constexpr Migration kOne{.sql = "CREATE TABLE t (x); INSERT INTO t VALUES (1)"};
constexpr Migration kTwo{.sql = "INSERT INTO t VALUES (2)"};
constexpr Migration kBroken{.sql = "INSERT INTO t VALUES (3); INSERT INTO nowhere VALUES (3)"};
constexpr Migration kDoubled{.sql = "INSERT INTO t VALUES (2)", .rewrite = [](Database& db) {
                               return db.Run("UPDATE t SET x = x * 2", "doubling");
                             }};
constexpr Migration kRefused{.sql = "INSERT INTO t VALUES (3)", .rewrite = [](Database&) {
                               return Status(base::Internal("this cannot be rewritten"));
                             }};

TEST(StoreId, ADamagedOneIsAnError) {
  const test::TempDir dir;
  const test::DirectStore store(SqliteStore::Open(dir.path(), OpenMode::kReadWrite).value());
  Database db = Database::Open((dir / "jobman.db").string(), kCreate).value();
  for (const char* damage : {"UPDATE meta SET value = 'm_X.1' WHERE key = 'store_id'",
                             "DELETE FROM meta WHERE key = 'store_id'"}) {
    ASSERT_TRUE(db.Run(damage, "testing").ok());
    const auto id = store.StoreId();
    ASSERT_FALSE(id.ok()) << damage;
    EXPECT_EQ(id.error().code, base::Code::kDataLoss);
  }
}

TEST(Migrations, EachScriptRunsOnce) {
  Database db = Memory();
  const Migration migrations[] = {kOne, kTwo};
  ASSERT_TRUE(Migrate(db, std::span(migrations).first(1)).ok());
  EXPECT_EQ(StoreVersion(db).value(), 1);
  ASSERT_TRUE(Migrate(db, migrations).ok());
  ASSERT_TRUE(Migrate(db, migrations).ok());
  EXPECT_EQ(StoreVersion(db).value(), 2);
  EXPECT_EQ(Count(db, "SELECT sum(x) FROM t"), 3);
}

TEST(Migrations, FailedScriptLeavesTheVersionBeforeIt) {
  Database db = Memory();
  const Migration migrations[] = {kOne, kBroken};
  EXPECT_FALSE(Migrate(db, migrations).ok());
  EXPECT_EQ(StoreVersion(db).value(), 1);
  EXPECT_EQ(Count(db, "SELECT count(*) FROM t"), 1);
}

TEST(Migrations, AFunctionRunsAfterTheScript) {
  Database db = Memory();
  const Migration migrations[] = {kOne, kDoubled};
  ASSERT_TRUE(Migrate(db, migrations).ok());
  EXPECT_EQ(StoreVersion(db).value(), 2);
  EXPECT_EQ(Count(db, "SELECT sum(x) FROM t"), 6);
}

TEST(Migrations, AFailedFunctionChangesNothing) {
  Database db = Memory();
  const Migration migrations[] = {kOne, kRefused};
  const Status failed = Migrate(db, migrations);
  EXPECT_EQ(failed.error().ToString(), "upgrading the store: this cannot be rewritten");
  EXPECT_EQ(StoreVersion(db).value(), 1);
  EXPECT_EQ(Count(db, "SELECT sum(x) FROM t"), 1);
}

TEST(Migrations, NewerVersionIsRefused) {
  Database db = Memory();
  const Migration migrations[] = {kOne, kTwo};
  ASSERT_TRUE(Migrate(db, migrations).ok());
  const Status refused = Migrate(db, std::span(migrations).first(1));
  EXPECT_EQ(refused.error().reason, Reason::kNewerStore);
  EXPECT_EQ(StoreVersion(db).value(), 2);
}

/// A copy of a store of an earlier version, from tests/data/store.
Database OldStore(const std::string& file, int version) {
  Database db = Database::Open(file, kCreate).value();
  const auto script = base::ReadFile(base::Path(JOBMAN_SOURCE_DIR) /
                                     fmt::format("tests/data/store/v{}.sql", version));
  EXPECT_TRUE(db.RunScript(script.value(), "testing").ok());
  return db;
}

/// The expected job: FAILED, with every member set.
core::Job ExpectedJob(int version) {
  core::Job expected = test::BusyJob(test::SampleJob("failed"));
  expected.id = {4};
  expected.created_at = base::FromMillis(1'767'225'600'000);
  expected.wish_new = false;
  expected.version = 2;
  expected.state = core::Done{.outcome = core::Outcome::kFailed, .exit_code = 3};
  expected.restart = core::Restart{.cause = core::RestartCause::kPreempted};
  expected.attempt_end = core::AttemptEnd{.outcome = core::AttemptOutcome::kFailed};
  expected.spent.waited_until = {};
  expected.search.reset();
  expected.task_runs = 0;
  expected.slice->requests_sent = 1;
  expected.slice->delete_requested_at.reset();
  expected.slice->omitted_since.reset();
  expected.slice->lacking_since.reset();
  expected.slice->not_found_since.reset();
  expected.slice->unhealthy_since.reset();
  expected.slice->lent_until.reset();
  expected.slice->setup_done.reset();
  expected.revised.reset();
  expected.slice->lapses = 0;
  expected.stage->stop_since.reset();
  expected.slice->last_evidence_at = {};
  for (core::HostRun& run : expected.stage->hosts) {
    run.started = run.phase != core::HostPhase::kLost;
  }
  // Several flags become one cause.
  expected.stage->stop = core::NodeLost{{.code = base::Code::kAborted, .message = "lost a node"}};
  if (version >= 3) return expected;
  // Later members have their defaults.
  expected.stage->stop = core::HostFailed{1};
  expected.stage->told.reset();
  expected.stage->hosts[0].scanned = 0;
  expected.slice->notice.reset();
  expected.slice->ready = false;
  expected.slice->unshown.clear();
  expected.abandoned.clear();
  expected.stage->hosts[0].notice.reset();
  return expected;
}

void IsStillRead(int version, std::size_t deliveries) {
  const test::TempDir dir;
  OldStore((dir / "jobman.db").string(), version);
  const test::DirectStore store(SqliteStore::Open(dir.path(), OpenMode::kReadWrite).value());
  const auto rows = store.List({}).value();
  std::vector<std::string> states;
  for (const auto& row : rows) states.push_back(row.state);
  EXPECT_THAT(states, testing::ElementsAre("QUEUED", "RUNNING", "BACKOFF", "FAILED"));

  const core::Job expected = ExpectedJob(version);
  EXPECT_EQ(store.Get({4}).value(), expected);

  EXPECT_EQ(store.StoreId().value(), "f5d33d77c34a");
  EXPECT_THAT(store.Events({4}, 0).value(), SizeIs(2));
  EXPECT_THAT(store.Exits({4}).value(), SizeIs(1));
  EXPECT_THAT(store.Attempts({4}).value(), SizeIs(1));
  EXPECT_THAT(store.Waiting().value(), SizeIs(deliveries));
  EXPECT_EQ(store.PinnedKey("node-1/0").value(), "ssh-ed25519 AAAA");
  EXPECT_EQ(store.CurrentLease().value()->token, 1);
  EXPECT_EQ(store.Create(test::SampleJob("new"), "", expected.created_at).value().value, 5);
}

TEST(Migrations, StoreOfVersion1IsStillRead) {
  IsStillRead(1, 0);
}
TEST(Migrations, StoreOfVersion2IsStillRead) {
  IsStillRead(2, 1);
}
TEST(Migrations, StoreOfVersion3IsStillRead) {
  IsStillRead(3, 1);
}

TEST(Migrations, StoreOfVersion4IsStillRead) {
  const test::TempDir dir;
  OldStore((dir / "jobman.db").string(), 4);
  const test::DirectStore store(SqliteStore::Open(dir.path(), OpenMode::kReadWrite).value());
  const core::Job job = store.Get({1}).value();
  core::Job expected = test::BusyJob(test::SampleJob("train"));
  expected.id = {1};
  expected.created_at = test::kNow;
  expected.wish_new = true;
  expected.version = 2;
  expected.search.reset();
  expected.task_runs = 0;
  expected.spec = job.spec;  // see UpgradeSpec.LosesNothing
  expected.slice->omitted_since.reset();
  expected.slice->lacking_since.reset();
  expected.slice->not_found_since.reset();
  expected.slice->unhealthy_since.reset();
  expected.slice->lent_until.reset();
  expected.slice->setup_done.reset();
  expected.revised.reset();
  expected.slice->lapses = 0;
  expected.stage->stop_since.reset();
  EXPECT_EQ(job, expected);
  EXPECT_EQ(job.spec.command.grace, std::chrono::minutes{2});

  const auto deliveries = store.Waiting().value();
  ASSERT_THAT(deliveries, SizeIs(1));
  const auto& hook = job.spec.hooks.at(static_cast<std::size_t>(deliveries[0].hook));
  EXPECT_EQ(hook.kind(), core::HookKind::kMail);
}

TEST(Migrations, AnInvalidSpecDoesNotStopTheMigration) {
  const test::TempDir dir;
  Database db = OldStore((dir / "jobman.db").string(), 3);
  ASSERT_TRUE(db.Run("UPDATE job_files SET spec_json = '{' WHERE job = 1", "testing").ok());
  const test::DirectStore store(SqliteStore::Open(dir.path(), OpenMode::kReadWrite).value());
  EXPECT_EQ(store.Get({1}).error().code, base::Code::kDataLoss);
  EXPECT_TRUE(store.Get({2}).ok());
}

/// Rewrites stored JSON: reads every row, then writes those that change.
Status RenameTheProject(Database& db) {
  std::vector<std::pair<std::int64_t, std::string>> specs;
  {
    JM_ASSIGN_OR_RETURN(Query query, db.Prepare("SELECT job, spec_json FROM job_files", "reading"));
    for (;;) {
      JM_ASSIGN_OR_RETURN(const bool row, query.Step());
      if (!row) break;
      const std::int64_t job = query.Int();
      specs.emplace_back(job, query.Text());
    }
  }
  for (const auto& [job, text] : specs) {
    JM_ASSIGN_OR_RETURN(base::Json spec, base::ParseJson(text));
    spec["tpu"]["project"] = "lab-of-" + base::GetString(spec["job"], "name");
    JM_TRY(db.Run("UPDATE job_files SET spec_json = ? WHERE job = ?", "writing", spec.dump(), job));
  }
  return base::Ok();
}

TEST(Migrations, JsonOfAnOldStoreCanBeRewritten) {
  for (const int version : {1, 2, 3}) {
    Database db = OldStore(":memory:", version);
    const auto known = Migrations();
    std::vector<Migration> migrations(known.begin(), known.end());
    migrations.push_back({.rewrite = RenameTheProject});
    ASSERT_TRUE(Migrate(db, migrations).ok()) << version;
    EXPECT_EQ(Count(db,
                    "SELECT count(*) FROM job_files WHERE "
                    "json_extract(spec_json, '$.tpu.project') = 'lab-of-running'"),
              1);
  }
}

TEST(Migrations, TheNumberOfHostsOfVersion6IsForgotten) {
  const test::TempDir dir;
  {
    const test::DirectStore store(SqliteStore::Open(dir.path(), OpenMode::kReadWrite).value());
    ASSERT_TRUE(store.Create(test::SampleJob("train"), "", test::kNow).ok());
  }
  {
    Database db = Database::Open((dir / "jobman.db").string(), kCreate).value();
    ASSERT_TRUE(db.RunScript("UPDATE job_files SET spec_json = "
                             "json_set(spec_json, '$.job.worker_num', 4);"
                             "DROP TABLE task_runs; DROP TABLE tasks; DROP TABLE queues;"
                             "ALTER TABLE jobs DROP COLUMN search_since;"
                             "ALTER TABLE jobs DROP COLUMN search_tries;"
                             "ALTER TABLE jobs DROP COLUMN pause_until;"
                             "ALTER TABLE jobs DROP COLUMN pause_message;"
                             "ALTER TABLE jobs DROP COLUMN pause_reason;"
                             "ALTER TABLE jobs DROP COLUMN pause_for_maintenance;"
                             "PRAGMA user_version = 6",
                             "testing")
                    .ok());
  }
  const test::DirectStore store(SqliteStore::Open(dir.path(), OpenMode::kReadWrite).value());
  const auto job = store.Get({1});
  ASSERT_TRUE(job.ok()) << job.error().ToString();
  EXPECT_EQ(job->spec.worker_num, "");
  EXPECT_EQ(job->spec.name, "train");
}

TEST(Migrations, StoreOfVersion7IsStillReadAndGetsQueues) {
  const test::TempDir dir;
  OldStore((dir / "jobman.db").string(), 7);
  const test::DirectStore store(SqliteStore::Open(dir.path(), OpenMode::kReadWrite).value());
  const auto job = store.Get({1});
  ASSERT_TRUE(job.ok()) << job.error().ToString();
  EXPECT_EQ(job->spec.command.cmd, "python train.py");
  EXPECT_THAT(store.Queues().value(), testing::IsEmpty());
  const core::QueueId queue = store.OpenQueue("/home/ada/tasks.yaml").value();
  ASSERT_TRUE(store.SyncQueue(queue, {}, {test::MakeTask("a")}, 0).ok());
  const auto claim = core::ClaimTask(store.GetTask(queue, "a").value(), test::MakeWorker(1), {});
  ASSERT_TRUE(claim);
  EXPECT_TRUE(store.Commit({.job = *job, .tasks = {*claim}}, 0).ok());
  EXPECT_THAT(store.Runs(queue, "a").value(), SizeIs(1));
}

TEST(Migrations, WaitsOfVersion8AreListedAsBefore) {
  const test::TempDir dir;
  OldStore((dir / "jobman.db").string(), 8);
  const test::DirectStore store(SqliteStore::Open(dir.path(), OpenMode::kReadWrite).value());
  const auto rows = store.List({}).value();
  ASSERT_THAT(rows, SizeIs(8));
  const auto search = core::Search{.since = base::FromMillis(1'767'225'600'123), .tries = 31};
  EXPECT_EQ(rows[0].search, search);
  EXPECT_FALSE(rows[0].pause);
  EXPECT_EQ(store.Get({1}).value().search, search);
  ASSERT_TRUE(rows[1].pause);
  EXPECT_EQ(rows[1].pause->until, base::FromMillis(1'767'229'200'789));
  EXPECT_EQ(rows[1].pause->error.message, "there is no more capacity");
  EXPECT_EQ(rows[1].pause->error.reason, Reason::kStockout);
  EXPECT_TRUE(rows[1].pause->for_maintenance);
  EXPECT_FALSE(rows[1].search);
  for (std::size_t row = 2; row < rows.size(); ++row) {
    EXPECT_FALSE(rows[row].pause) << row;
    EXPECT_FALSE(rows[row].search) << row;
  }
  Database db = Database::Open((dir / "jobman.db").string(), kCreate).value();
  EXPECT_EQ(Count(db, "SELECT count(*) FROM jobs WHERE pause_until IS NOT NULL"), 2)
      << "also that of the job that is set aside";
}

TEST(Migrations, AnOlderJobmanThatStillWritesLeavesNoPauseBehind) {
  const test::TempDir dir;
  Database db = OldStore((dir / "jobman.db").string(), 8);
  const test::DirectStore store(SqliteStore::Open(dir.path(), OpenMode::kReadWrite).value());
  ASSERT_TRUE(store.List({}).value()[1].pause);
  ASSERT_TRUE(db.RunScript("UPDATE jobs SET state = 'SUCCEEDED', version = version + 1, "
                           "state_json = '{\"state\":\"SUCCEEDED\"}' WHERE id = 2",
                           "testing")
                  .ok());
  EXPECT_FALSE(store.List({}).value()[1].pause);
}

}  // namespace
}  // namespace jobman::store
