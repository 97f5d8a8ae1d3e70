#include "store/migrations.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobman/base/files.hpp"
#include "jobman/store/sqlite_store.hpp"
#include "tests/support/sample_job.hpp"
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

constexpr const char* kOne = "CREATE TABLE t (x); INSERT INTO t VALUES (1)";
constexpr const char* kTwo = "INSERT INTO t VALUES (2)";
constexpr const char* kBroken = "INSERT INTO t VALUES (3); INSERT INTO nowhere VALUES (3)";

TEST(Migrations, EachScriptRunsOnce) {
  Database db = Memory();
  const char* const scripts[] = {kOne, kTwo};
  ASSERT_TRUE(Migrate(db, std::span(scripts).first(1)).ok());
  EXPECT_EQ(StoreVersion(db).value(), 1);
  ASSERT_TRUE(Migrate(db, scripts).ok());
  ASSERT_TRUE(Migrate(db, scripts).ok());
  EXPECT_EQ(StoreVersion(db).value(), 2);
  EXPECT_EQ(Count(db, "SELECT sum(x) FROM t"), 3);
}

TEST(Migrations, FailedScriptLeavesTheVersionBeforeIt) {
  Database db = Memory();
  const char* const scripts[] = {kOne, kBroken};
  EXPECT_FALSE(Migrate(db, scripts).ok());
  EXPECT_EQ(StoreVersion(db).value(), 1);
  EXPECT_EQ(Count(db, "SELECT count(*) FROM t"), 1);
}

TEST(Migrations, NewerVersionIsRefused) {
  Database db = Memory();
  const char* const scripts[] = {kOne, kTwo};
  ASSERT_TRUE(Migrate(db, scripts).ok());
  const Status refused = Migrate(db, std::span(scripts).first(1));
  EXPECT_EQ(refused.error().reason, Reason::kNewerStore);
  EXPECT_EQ(StoreVersion(db).value(), 2);
}

/// The store that tests/data/store has of an earlier version.
void IsStillRead(int version, std::size_t notices) {
  const test::TempDir dir;
  const auto script = base::ReadFile(base::Path(JOBMAN_SOURCE_DIR) /
                                     fmt::format("tests/data/store/v{}.sql", version));
  {
    Database db = Database::Open((dir / "jobman.db").string(), kCreate).value();
    ASSERT_TRUE(db.RunScript(script.value(), "testing").ok());
  }
  const auto store = SqliteStore::Open(dir.path(), OpenMode::kReadWrite).value();
  const auto rows = store->List({}).value();
  std::vector<std::string> states;
  for (const auto& row : rows) states.push_back(row.state);
  EXPECT_THAT(states, testing::ElementsAre("QUEUED", "RUNNING", "BACKOFF", "FAILED"));

  core::Job expected = test::BusyJob(test::SampleJob("failed"));
  expected.id = {4};
  expected.created_at = base::FromMillis(1'767'225'600'000);
  expected.wish_new = false;
  expected.version = 2;
  expected.state = core::Done{.outcome = core::Outcome::kFailed, .exit_code = 3};
  // What came later reads as its default.
  expected.stage->alarm.reset();
  expected.stage->moved = false;
  expected.stage->lost.reset();
  expected.stage->hosts[0].scanned = 0;
  expected.slice->notice.reset();
  expected.slice->ready = false;
  expected.slice->unshown.clear();
  expected.given_up.clear();
  expected.stage->generation.reset();
  expected.stage->hosts[0].notice.reset();
  expected.stage->notice.reset();
  expected.stage->noticed_at = {};
  EXPECT_EQ(store->Get({4}).value(), expected);

  EXPECT_EQ(store->StoreId().value(), "f5d33d77c34a");
  EXPECT_THAT(store->Events({4}, 0).value(), SizeIs(2));
  EXPECT_THAT(store->Exits({4}).value(), SizeIs(1));
  EXPECT_THAT(store->Attempts({4}).value(), SizeIs(1));
  EXPECT_THAT(store->Outbox().value(), SizeIs(notices));
  EXPECT_EQ(store->PinnedKey("node-1/0").value(), "ssh-ed25519 AAAA");
  EXPECT_EQ(store->CurrentLease().value()->token, 1);
  EXPECT_EQ(store->Create(test::SampleJob("new"), "", expected.created_at).value().value, 5);
}

TEST(Migrations, StoreOfVersion1IsStillRead) {
  IsStillRead(1, 0);
}
TEST(Migrations, StoreOfVersion2IsStillRead) {
  IsStillRead(2, 1);
}

}  // namespace
}  // namespace jobman::store
