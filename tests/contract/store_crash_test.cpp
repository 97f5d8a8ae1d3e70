// SIGKILL while a process writes: acknowledged turns are stored, and no turn only in part.

#include <fcntl.h>
#include <gtest/gtest.h>

#include <chrono>
#include <random>

#include "jobman/store/sqlite_store.hpp"
#include "store/sqlite.hpp"
#include "tests/support/child.hpp"
#include "tests/support/direct_store.hpp"
#include "tests/support/sample_job.hpp"
#include "tests/support/temp_dir.hpp"

namespace jobman::store {
namespace {

using test::kNow;
constexpr int kKills = 8;

class Crash : public testing::TestWithParam<bool> {
 protected:
  test::DirectStore Open() const {
    return test::DirectStore(
        SqliteStore::Open(dir_.path(), {.shared_file_system = GetParam()}).value());
  }

  test::TempDir dir_;
};

INSTANTIATE_TEST_SUITE_P(Journals, Crash, testing::Bool(), [](const auto& journal) {
  return journal.param ? "RollbackJournal" : "WriteAheadLog";
});

/// Commits one turn after another, each with two lines, an exit code and an attempt, and writes a
/// byte to `pipe` for each acknowledged one.
int WriteTurns(const test::DirectStore& store, core::JobId id, int pipe) {
  for (;;) {
    core::Job job = test::BusyJob(store.Get(id).value());
    job.attempt = static_cast<int>(job.version);
    const ports::ExitRecord exit{.attempt = job.attempt, .stage = "run"};
    const ports::AttemptRecord attempt{.attempt = job.attempt};
    const auto done = store.Commit({.job = job,
                                    .events = {{.kind = "state"}, {.kind = "effect"}},
                                    .exits = {exit},
                                    .attempts = {attempt}},
                                   0);
    if (!done.ok()) return 1;
    if (write(pipe, "x", 1) != 1) return 2;
  }
}

/// Kills a writer after `turns` acknowledged turns; returns how many it had in the end.
std::int64_t KillAfter(const std::function<test::DirectStore()>& open, core::JobId id, int turns) {
  int ends[2] = {};
  EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const base::UniqueFd out(ends[0]);
  base::UniqueFd in(ends[1]);
  test::Child child([&] { return WriteTurns(open(), id, in.get()); });
  in.Reset();
  std::int64_t answered = 0;
  char byte = 0;
  while (answered < turns && read(out.get(), &byte, 1) == 1) ++answered;
  child.Kill();
  while (read(out.get(), &byte, 1) == 1) ++answered;
  return answered;
}

TEST_P(Crash, AcknowledgedTurnsSurviveAndNoneIsPartial) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const auto id = Open().Create(test::SampleJob("train"), "", kNow).value();
  std::int64_t version = 1;
  for (int kill = 0; kill < kKills; ++kill) {
    const int turns = std::uniform_int_distribution<int>(1, 12)(random);
    const std::int64_t answered = KillAfter([this] { return Open(); }, id, turns);
    ASSERT_GE(answered, turns);
    const auto store = Open();
    const core::Job job = store.Get(id).value();
    const std::int64_t written = job.version - version;
    // The turn that was interrupted may be stored, though not acknowledged.
    EXPECT_GE(written, answered);
    EXPECT_LE(written, answered + 1);
    version = job.version;
    const auto turns_ever = static_cast<std::size_t>(version - 1);
    EXPECT_EQ(store.Events(id, 0).value().size(), 1 + 2 * turns_ever);
    EXPECT_EQ(store.Exits(id).value().size(), turns_ever);
    EXPECT_EQ(store.Attempts(id).value().size(), turns_ever);
  }
  auto db = Database::Open((dir_ / "jobman.db").string(), SQLITE_OPEN_READWRITE).value();
  EXPECT_EQ(db.Pragma("integrity_check").value(), "ok");
}

TEST_P(Crash, LeaseOfAKilledControllerIsTakenWhenItExpires) {
  Open();
  test::Child controller([this] {
    const auto store = Open();
    const auto lease = store.TakeLease("dead", kNow, std::chrono::seconds{30});
    kill(getpid(), SIGKILL);
    return lease.ok() ? 0 : 1;
  });
  EXPECT_EQ(controller.Wait(), -1);
  const auto store = Open();
  const auto ttl = std::chrono::seconds{30};
  EXPECT_FALSE(store.TakeLease("new", kNow + ttl / 2, ttl).value().has_value());
  EXPECT_TRUE(store.TakeLease("new", kNow + ttl, ttl).value().has_value());
}

}  // namespace
}  // namespace jobman::store
