#include "tests/contract/store_subjects.hpp"

#include <deque>

#include "jobman/store/sqlite_store.hpp"
#include "store/sqlite.hpp"
#include "tests/support/memory_store.hpp"
#include "tests/support/temp_dir.hpp"

namespace jobman::test {
namespace {

class InMemory final : public StoreSubject {
 public:
  ports::Stores Use() override { return store_.stores(); }
  void MakeTaskUnreadable(core::QueueId queue, const std::string& id) override {
    store_.MakeTaskUnreadable(queue, id);
  }

 private:
  StoreInMemory store_;
};

class OnDisk final : public StoreSubject {
 public:
  OnDisk(bool reopen, bool shared) : reopen_(reopen), shared_(shared) {}

  ports::Stores Use() override {
    if (reopen_ && store_) earlier_.push_back(std::move(store_));
    if (earlier_.size() > kNested) earlier_.pop_front();
    if (!store_) {
      auto opened = store::SqliteStore::Open(Dir(), {.shared_file_system = shared_});
      if (!opened.ok()) ADD_FAILURE() << opened.error().ToString();
      store_ = std::move(opened).value();
    }
    return ports::StoresOf(*store_);
  }

  void MakeTaskUnreadable(core::QueueId queue, const std::string& id) override {
    auto db = store::Database::Open((Dir() / "jobman.db").string(), SQLITE_OPEN_READWRITE).value();
    const base::Status counted =
        db.Run("UPDATE queues SET change = change + 1 WHERE id = ?", "testing", queue.value);
    const base::Status written = db.Run(
        "UPDATE tasks SET version = version + 1, change = (SELECT change FROM queues WHERE id = "
        "queue), task_json = json_set(task_json, '$.standing.is', 'shelved') "
        "WHERE queue = ? AND id = ?",
        "testing", queue.value, id);
    EXPECT_TRUE(counted.ok() && written.ok());
  }

 private:
  base::Path Dir() const { return dir_.path() / "state"; }

  /// A call whose arguments use the store, too, goes on with the one that it began with.
  static constexpr std::size_t kNested = 3;

  TempDir dir_;
  bool reopen_ = false;
  bool shared_ = false;
  std::deque<std::unique_ptr<store::SqliteStore>> earlier_;
  std::unique_ptr<store::SqliteStore> store_;
};

}  // namespace

std::unique_ptr<StoreSubject> MakeStoreSubject(StoreKind kind) {
  switch (kind) {
    case StoreKind::kMemory:
      return std::make_unique<InMemory>();
    case StoreKind::kSqlite:
      return std::make_unique<OnDisk>(false, false);
    case StoreKind::kSqliteReopened:
      return std::make_unique<OnDisk>(true, false);
    case StoreKind::kSqliteOnSharedFiles:
      return std::make_unique<OnDisk>(false, true);
  }
  return nullptr;
}

std::string StoreKindName(const testing::TestParamInfo<StoreKind>& info) {
  switch (info.param) {
    case StoreKind::kMemory:
      return "Memory";
    case StoreKind::kSqlite:
      return "Sqlite";
    case StoreKind::kSqliteReopened:
      return "SqliteReopened";
    case StoreKind::kSqliteOnSharedFiles:
      return "SqliteOnSharedFiles";
  }
  return {};
}

}  // namespace jobman::test
