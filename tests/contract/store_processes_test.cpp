// Several processes use one store at the same time.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <set>

#include "jobman/store/sqlite_store.hpp"
#include "tests/support/child.hpp"
#include "tests/support/direct_store.hpp"
#include "tests/support/sample_job.hpp"
#include "tests/support/temp_dir.hpp"

namespace jobman::store {
namespace {

using base::Reason;
using testing::SizeIs;

using test::kNow;
constexpr int kProcesses = 3;
constexpr int kRounds = 20;

/// Reads and commits until a commit succeeds; returns 0, or what went wrong.
int CommitOnce(const test::DirectStore& store, core::JobId id, const std::string& line) {
  for (;;) {
    auto job = store.Get(id);
    if (!job.ok()) return 1;
    const auto done = store.Commit({.job = *job, .events = {{.kind = "note", .subject = line}}}, 0);
    if (done.ok()) return 0;
    if (done.error().reason != Reason::kStale) return 2;
  }
}

/// Runs `work(process)` in kProcesses processes at once; each must return 0.
void InParallel(const std::function<int(int)>& work) {
  std::vector<std::unique_ptr<test::Child>> children;
  for (int i = 0; i < kProcesses; ++i)
    children.push_back(std::make_unique<test::Child>([&work, i] { return work(i); }));
  for (auto& child : children) EXPECT_EQ(child->Wait(), 0);
}

class Processes : public testing::TestWithParam<bool> {
 protected:
  base::Result<test::DirectStore> Open() const {
    JM_ASSIGN_OR_RETURN(auto store,
                        SqliteStore::Open(dir_.path(), {.shared_file_system = GetParam()}));
    return test::DirectStore(std::move(store));
  }
  core::JobId CreateOne() const {
    return Open().value().Create(test::SampleJob("train"), "", kNow).value();
  }

  test::TempDir dir_;
};

INSTANTIATE_TEST_SUITE_P(Journals, Processes, testing::Bool(), [](const auto& journal) {
  return journal.param ? "RollbackJournal" : "WriteAheadLog";
});

TEST_P(Processes, WritersOfOneJobLoseNothing) {
  const auto id = CreateOne();
  InParallel([this, id](int process) {
    const auto store = Open();
    if (!store.ok()) return 10;
    for (int round = 0; round < kRounds; ++round) {
      const std::string line = std::to_string(process) + "/" + std::to_string(round);
      if (const int wrong = CommitOnce(*store, id, line); wrong != 0) return wrong;
    }
    return 0;
  });
  const auto store = Open().value();
  EXPECT_EQ(store.Get(id).value().version, 1 + kProcesses * kRounds);
  std::set<std::string> lines;
  const auto events = store.Events(id, 1).value();
  for (const auto& event : events) lines.insert(event.subject);
  EXPECT_THAT(lines, SizeIs(kProcesses * kRounds));
}

TEST_P(Processes, WishesDuringTurnsAreAllSeen) {
  const auto id = CreateOne();
  InParallel([this, id](int process) {
    const auto store = Open();
    if (!store.ok()) return 10;
    for (int round = 0; round < kRounds; ++round) {
      if (process == 0 && CommitOnce(*store, id, "turn") != 0) return 1;
      if (process != 0 &&
          !store->SetWish(id, core::Wish::kReboot, core::SetupWish::kRedo, kNow).ok())
        return 2;
    }
    return 0;
  });
  EXPECT_EQ(Open().value().Get(id).value().setup_epoch, (kProcesses - 1) * kRounds);
}

TEST_P(Processes, OneOfManyGetsTheLease) {
  CreateOne();
  std::vector<std::unique_ptr<test::Child>> children;
  for (int i = 0; i < 6; ++i)
    children.push_back(std::make_unique<test::Child>([this, i] {
      const auto store = Open();
      if (!store.ok()) return 10;
      const auto lease =
          store->TakeLease("process-" + std::to_string(i), kNow, std::chrono::seconds{30});
      if (!lease.ok()) return 11;
      return lease->has_value() ? 1 : 0;
    }));
  int holders = 0;
  for (auto& child : children) {
    const int code = child->Wait();
    ASSERT_LE(code, 1);
    holders += code;
  }
  EXPECT_EQ(holders, 1);
  EXPECT_EQ(Open().value().CurrentLease().value()->token, 1);
}

TEST_P(Processes, NewJobsHaveDifferentNumbers) {
  CreateOne();
  InParallel([this](int) {
    const auto store = Open();
    if (!store.ok()) return 10;
    for (int round = 0; round < kRounds; ++round)
      if (!store->Create(test::SampleJob("train"), "", kNow).ok()) return 1;
    return 0;
  });
  EXPECT_THAT(Open().value().List({}).value(), SizeIs(1 + kProcesses * kRounds));
}

}  // namespace
}  // namespace jobman::store
