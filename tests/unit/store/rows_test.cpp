#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobman/store/sqlite_store.hpp"
#include "store/sqlite.hpp"
#include "tests/support/direct_store.hpp"
#include "tests/support/public_keys.hpp"
#include "tests/support/sample_job.hpp"
#include "tests/support/temp_dir.hpp"

namespace jobman::store {
namespace {

using base::Code;
using base::Reason;
using testing::HasSubstr;

using test::kNow;

class RowsTest : public testing::Test {
 protected:
  core::Job Get() const { return store_.Get(id_).value(); }
  /// Changes the job's row without the store.
  base::Error ErrorAfter(const std::string& sql) {
    auto db = Database::Open((dir_ / "jobman.db").string(), SQLITE_OPEN_READWRITE).value();
    EXPECT_TRUE(db.RunScript(sql, "testing").ok());
    return store_.Get(id_).error();
  }

  test::TempDir dir_;
  test::DirectStore store_{SqliteStore::Open(dir_.path(), OpenMode::kReadWrite).value()};
  core::JobId id_ = store_.Create(test::BusyJob(test::SampleJob("train")), "", kNow).value();
};

TEST_F(RowsTest, StateOfANewerJobmanIsNeverAnEmptyState) {
  const base::Error error =
      ErrorAfter(R"(UPDATE jobs SET state = 'DREAMING', state_json = '{"state":"DREAMING"}')");
  EXPECT_EQ(error.reason, Reason::kNewerStore);
  EXPECT_THAT(error.message, HasSubstr("DREAMING"));
  EXPECT_THAT(error.ToString(), HasSubstr("job 000001"));
  EXPECT_EQ(store_.ActiveVersions().value()[0].id, id_)
      << "it is listed, even though it cannot be read";
  EXPECT_EQ(store_.List({}).value()[0].state, "DREAMING");
}

TEST_F(RowsTest, DamagedJsonHidesNothingFromAList) {
  core::Job job = Get();
  job.stage.reset();
  job.search = core::Search{.since = kNow, .tries = 3};
  job.state = core::BackingOff{
      .until = kNow,
      .error = {.code = Code::kUnavailable, .message = "try later", .reason = Reason::kStockout},
      .for_maintenance = true};
  ASSERT_TRUE(store_.Commit({.job = job}, 0).ok());
  for (const char* json : {"", "{", "7", R"({"search":{"since")"}) {
    const std::string text = std::string("'") + json + "'";
    const base::Error error =
        ErrorAfter("UPDATE jobs SET state_json = " + text + ", attempt_json = " + text);
    EXPECT_FALSE(error.message.empty()) << json;
    const auto rows = store_.List({}).value();
    ASSERT_EQ(rows.size(), 1U) << json;
    EXPECT_EQ(rows[0].state, "BACKOFF");
    EXPECT_EQ(rows[0].search, job.search);
    ASSERT_TRUE(rows[0].pause) << json;
    EXPECT_EQ(rows[0].pause->until, kNow);
    EXPECT_EQ(rows[0].pause->error.message, "try later");
    EXPECT_EQ(rows[0].pause->error.reason, Reason::kStockout);
    EXPECT_TRUE(rows[0].pause->for_maintenance);
  }
}

TEST_F(RowsTest, ARecordThatIsSetAsideSaysNothingOfAWait) {
  core::Job job = Get();
  job.stage.reset();
  job.state = core::BackingOff{.until = kNow};
  ASSERT_TRUE(store_.Commit({.job = job}, 0).ok());
  EXPECT_TRUE(store_.List({}).value()[0].pause);
  ASSERT_TRUE(store_.SetAside({id_, Get().version}, "it contradicts itself", 0).ok());
  const auto row = store_.List({}).value()[0];
  EXPECT_FALSE(row.pause);
  EXPECT_EQ(row.why, "it contradicts itself");
}

TEST_F(RowsTest, AGuestThatCannotBeReadIsNamedAndTheOthersAreRead) {
  ASSERT_TRUE(store_.SetGuest({}, test::Ann()).ok());
  const std::string another = core::GuestToJson(test::Bob()).dump();
  for (const std::string& value :
       {std::string("{\"until\": \"tomorrow\"}"), std::string("{"), another}) {
    auto db = Database::Open((dir_ / "jobman.db").string(), SQLITE_OPEN_READWRITE).value();
    const std::string sql = "INSERT OR REPLACE INTO meta (key, value) VALUES ('guest:eve:t d', '";
    ASSERT_TRUE(db.RunScript(sql + value + "')", "testing").ok());
    EXPECT_THAT(store_.Guests().value(), testing::ElementsAre(test::Ann()));
    const auto unread = store_.UnreadGuests().value();
    ASSERT_EQ(unread.size(), 1U) << value;
    EXPECT_EQ(unread[0].login, (core::Guest{.user = "eve", .key = {.type = "t", .data = "d"}}));
    const std::string said = unread[0].error.ToString();
    EXPECT_THAT(said, HasSubstr("the record of eve ("));
    EXPECT_THAT(said, HasSubstr((dir_ / "jobman.db").string() + ": "));
    EXPECT_FALSE(unread[0].error.hint.empty()) << value;
  }
  auto db = Database::Open((dir_ / "jobman.db").string(), SQLITE_OPEN_READWRITE).value();
  const std::string odd = "INSERT INTO meta (key, value) VALUES ('guest:a''b:t d', '{')";
  ASSERT_TRUE(db.RunScript(odd, "testing").ok());
  EXPECT_THAT(store_.UnreadGuests().value().at(0).error.hint, HasSubstr("guest:a'\\'''\\''b"))
      << "a quote is two in SQL, and each is quoted for the shell";
}

TEST_F(RowsTest, WishOfANewerJobmanIsRefused) {
  EXPECT_EQ(ErrorAfter("UPDATE jobs SET wish = 'migrate'").reason, Reason::kNewerStore);
}

TEST_F(RowsTest, SlicePhaseOfANewerJobmanIsRefused) {
  const base::Error error =
      ErrorAfter(R"(UPDATE jobs SET slice_json = json_set(slice_json, '$.phase', 'dozing'))");
  EXPECT_EQ(error.reason, Reason::kNewerStore);
}

TEST_F(RowsTest, SpecWithAWordOfANewerJobmanIsRefusedAsSuch) {
  for (const char* change :
       {"json_set(spec_json, '$.tpu.pricing', 'flex')",
        "json_set(spec_json, '$.hooks', json('[{\"event\": \"failed\", \"kind\": \"pager\"}]'))"}) {
    const base::Error error = ErrorAfter(std::string("UPDATE job_files SET spec_json = ") + change);
    EXPECT_EQ(error.reason, Reason::kNewerStore) << error.ToString();
    EXPECT_THAT(error.message, testing::StartsWith("written by a newer jobman: "));
    EXPECT_THAT(error.hint, HasSubstr("newest jobman"));
  }
}

TEST_F(RowsTest, RowThatIsNotJsonIsDamage) {
  const base::Error error = ErrorAfter("UPDATE jobs SET stage_json = '{\"number\": '");
  EXPECT_EQ(error.code, Code::kDataLoss);
  EXPECT_THAT(error.ToString(), HasSubstr("job 000001"));
}

TEST_F(RowsTest, AMessageThatIsNotUtf8IsStored) {
  core::Job job = Get();
  job.state = core::BackingOff{.until = kNow, .error = {.message = "bad \xff byte"}};
  ASSERT_TRUE(store_.Commit({.job = job}, 0).ok());
  const auto state = std::get<core::BackingOff>(Get().state);
  EXPECT_THAT(state.error.message, testing::StartsWith("bad "));
}

}  // namespace
}  // namespace jobman::store
