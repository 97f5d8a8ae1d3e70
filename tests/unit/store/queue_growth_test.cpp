// A queue file that changes to and fro: what the store has of it does not grow.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "jobman/core/task_list.hpp"
#include "jobman/store/sqlite_store.hpp"
#include "tests/support/direct_store.hpp"
#include "tests/support/tasks.hpp"
#include "tests/support/temp_dir.hpp"

namespace jobman::store {
namespace {

/// Tasks with those numbers; `run` is the same for all.
core::TaskList ListOf(int first, int last, const std::string& run) {
  core::TaskList list;
  for (int number = first; number < last; ++number) {
    core::TaskDefinition definition = test::MakeTask("t" + std::to_string(number)).definition;
    definition.run = run;
    list.tasks.push_back(std::move(definition));
  }
  return list;
}

class QueueGrowthTest : public testing::Test {
 protected:
  /// Takes the file as a controller does: compares with what is recorded, and writes the
  /// difference. Returns how many records were written.
  std::size_t Take(const core::TaskList& list) {
    const test::DirectStore store = Open();
    const core::QueueId queue = store.OpenQueue("/home/ada/tasks.yaml").value();
    const core::TaskBoard board(store.Tasks(queue, 0).value().tasks);
    std::vector<core::Task> changed = core::SyncTasks(list, board, queue, now_);
    const std::size_t written = changed.size();
    EXPECT_TRUE(store.SyncQueue(queue, {.at = now_}, std::move(changed), 0).ok());
    now_ += std::chrono::seconds{1};
    return written;
  }
  void TakeToAndFro(int times) {
    for (int i = 0; i < times; ++i) {
      Take(ListOf(50, 150, "false"));
      Take(ListOf(0, 100, "true"));
    }
  }
  std::size_t CountRows() {
    const test::DirectStore store = Open();
    const auto queues = store.Queues().value();
    return queues.size() * 1000 + store.Tasks(queues.front().id, 0).value().tasks.size();
  }
  /// Nothing has it open, so all is in the file.
  std::uintmax_t SizeOnDisk() const {
    return std::filesystem::file_size(dir_.path() / "jobman.db");
  }
  test::DirectStore Open() const {
    return test::DirectStore(SqliteStore::Open(dir_.path(), OpenMode::kReadWrite).value());
  }

  test::TempDir dir_;
  core::TimePoint now_ = test::TaskTime(1'000);
};

TEST_F(QueueGrowthTest, AFileThatChangesToAndFroLeavesNothingBehind) {
  TakeToAndFro(10);
  const auto rows = CountRows();
  const auto size = SizeOnDisk();
  EXPECT_EQ(rows, 1'150u) << "one queue, 150 tasks";
  TakeToAndFro(100);
  EXPECT_EQ(CountRows(), rows);
  EXPECT_LE(SizeOnDisk(), size + size / 4) << "it was " << size;
}

TEST_F(QueueGrowthTest, AFileThatHasNotChangedWritesNoTask) {
  EXPECT_EQ(Take(ListOf(0, 100, "true")), 100u);
  EXPECT_EQ(Take(ListOf(0, 100, "true")), 0u);
}

}  // namespace
}  // namespace jobman::store
