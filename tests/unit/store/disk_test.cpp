#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobman/store/sqlite_store.hpp"
#include "tests/support/direct_store.hpp"
#include "tests/support/sample_job.hpp"
#include "tests/support/temp_dir.hpp"

namespace jobman::store {
namespace {

using base::Reason;
using testing::HasSubstr;

using test::kNow;

class FullDisk : public testing::TestWithParam<bool> {
 protected:
  test::DirectStore Open(std::int64_t max_pages) const {
    return test::DirectStore(
        SqliteStore::Open(dir_.path(), {.shared_file_system = GetParam(), .max_pages = max_pages})
            .value());
  }

  test::TempDir dir_;
};

INSTANTIATE_TEST_SUITE_P(Journals, FullDisk, testing::Bool(), [](const auto& journal) {
  return journal.param ? "RollbackJournal" : "WriteAheadLog";
});

TEST_P(FullDisk, AWriteFailsAsAWholeAndTheStoreStaysIntact) {
  const auto id = Open(0).Create(test::SampleJob("train"), "", kNow).value();
  base::Error error;
  core::Job last;
  {
    const auto store = Open(40);
    last = store.Get(id).value();
    for (int turn = 0; turn < 1000; ++turn) {
      core::Job job = last;
      job.why = std::string(2000, 'x');
      const auto done =
          store.Commit({.job = job, .events = {{.kind = "note", .text = job.why}}}, 0);
      if (!done.ok()) {
        error = done.error();
        break;
      }
      last = store.Get(id).value();
    }
    EXPECT_EQ(error.reason, Reason::kDiskFull);
    EXPECT_THAT(error.ToString(), HasSubstr((dir_ / "jobman.db").string()));
    EXPECT_EQ(store.Get(id).value(), last);
    EXPECT_EQ(store.Events(id, 0).value().size(), static_cast<std::size_t>(last.version));
  }
  const auto store = Open(0);
  EXPECT_EQ(store.Get(id).value(), last);
  EXPECT_TRUE(store.Commit({.job = last, .events = {{.kind = "note"}}}, 0).ok());
}

TEST_P(FullDisk, AFailedWriteBlocksNobody) {
  const auto roomy = Open(0);
  const auto tight = Open(30);
  const auto id = roomy.Create(test::SampleJob("train"), "", kNow).value();
  base::Status done = base::Ok();
  for (int fact = 0; done.ok() && fact < 1000; ++fact)
    done = tight.PutInCache(std::to_string(fact), {std::string(3000, 'x'), kNow});
  EXPECT_EQ(done.error().reason, Reason::kDiskFull);
  EXPECT_TRUE(roomy.SetWish(id, core::Wish::kDelete, core::SetupWish::kAsNeeded, kNow).ok());
  EXPECT_EQ(tight.Get(id).value().wish, core::Wish::kDelete);
}

}  // namespace
}  // namespace jobman::store
