#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "jobman/base/files.hpp"
#include "jobman/store/sqlite_store.hpp"
#include "store/sqlite.hpp"
#include "tests/support/child.hpp"
#include "tests/support/direct_store.hpp"
#include "tests/support/sample_job.hpp"
#include "tests/support/temp_dir.hpp"

namespace jobman::store {
namespace {

using base::Code;
using base::Path;
using base::Reason;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

using test::kNow;

class OpenTest : public testing::Test {
 protected:
  Path dir() const { return temp_.path() / "state"; }
  Path file() const { return dir() / "jobman.db"; }
  base::Result<test::DirectStore> TryOpen(OpenMode mode) const {
    JM_ASSIGN_OR_RETURN(auto store, SqliteStore::Open(dir(), mode));
    return test::DirectStore(std::move(store));
  }
  test::DirectStore Open(OpenMode mode = OpenMode::kReadWrite) const {
    return TryOpen(mode).value();
  }
  base::Error OpenError(OpenMode mode = OpenMode::kReadWrite) const {
    return SqliteStore::Open(dir(), mode).error();
  }
  core::JobId CreateOne() const {
    return Open().Create(test::SampleJob("train"), "", kNow).value();
  }
  void Sql(const std::string& sql) const {
    auto db = Database::Open(file().string(), SQLITE_OPEN_READWRITE).value();
    ASSERT_TRUE(db.RunScript(sql, "testing").ok());
  }
  std::string Bytes() const { return base::ReadFile(file()).value(); }
  std::vector<std::string> Files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(dir()))
      names.push_back(entry.path().filename());
    return names;
  }

  test::TempDir temp_;
};

mode_t ModeOf(const Path& path) {
  struct stat info = {};
  EXPECT_EQ(stat(path.c_str(), &info), 0);
  return info.st_mode & 0777;
}

// --- Creating ---

TEST_F(OpenTest, ANewStoreIsPrivate) {
  const mode_t before = umask(0);
  const auto store = Open();
  ASSERT_TRUE(store.Create(test::SampleJob("train"), "", kNow).ok());
  umask(before);
  EXPECT_EQ(ModeOf(dir()), 0700u);
  EXPECT_EQ(ModeOf(file()), 0600u);
  EXPECT_EQ(ModeOf(file().string() + "-wal"), 0600u);
}

TEST_F(OpenTest, NewStoreLeavesNoOtherFile) {
  Open();
  EXPECT_THAT(Files(), testing::ElementsAre("jobman.db"));
}

TEST_F(OpenTest, ManyCreatorsAtOnceMakeOneStore) {
  std::vector<std::unique_ptr<test::Child>> children;
  for (int i = 0; i < 6; ++i)
    children.push_back(std::make_unique<test::Child>([this] {
      const auto store = TryOpen(OpenMode::kReadWrite);
      return store.ok() && store->Create(test::SampleJob("train"), "", kNow).ok() ? 0 : 1;
    }));
  for (auto& child : children) EXPECT_EQ(child->Wait(), 0);
  EXPECT_THAT(Open().List({}).value(), SizeIs(6));
  EXPECT_THAT(Files(), testing::Contains("jobman.db"));
  EXPECT_THAT(Files(), testing::Not(testing::Contains(StartsWith("."))));
}

TEST_F(OpenTest, FolderNamesWithSpecialCharactersWork) {
  const Path odd = temp_.path() / "100% mine? #1";
  auto store = SqliteStore::Open(odd, OpenMode::kReadWrite);
  ASSERT_TRUE(store.ok());
  EXPECT_TRUE(std::filesystem::exists(odd / "jobman.db"));
}

// --- Reading only ---

TEST_F(OpenTest, ReadingAStoreThatDoesNotExistShowsNothingAndCreatesNothing) {
  const auto store = Open(OpenMode::kReadOnly);
  EXPECT_THAT(store.List({}).value(), IsEmpty());
  EXPECT_EQ(store.Get({1}).error().code, Code::kNotFound);
  EXPECT_FALSE(std::filesystem::exists(dir()));
}

TEST_F(OpenTest, ReaderSeesWhatAWriterStores) {
  const auto writer = Open();
  const auto reader = Open(OpenMode::kReadOnly);
  const auto before = reader.ChangeCounter().value();
  ASSERT_TRUE(writer.Create(test::SampleJob("train"), "", kNow).ok());
  EXPECT_NE(reader.ChangeCounter().value(), before);
  EXPECT_THAT(reader.List({}).value(), SizeIs(1));
}

/// Runs `body` in a process that may not write to the store's folder.
int InAClosedFolder(const Path& dir, const std::function<int()>& body) {
  for (const auto& entry : std::filesystem::directory_iterator(dir))
    chmod(entry.path().c_str(), 0444);
  chmod(dir.c_str(), 0555);
  test::Child child([&body] { return test::BecomeNobody() ? body() : 99; });
  const int code = child.Wait();
  chmod(dir.c_str(), 0700);
  return code;
}

TEST_F(OpenTest, ListWorksInAFolderThatMayNotBeWritten) {
  CreateOne();
  EXPECT_EQ(InAClosedFolder(dir(),
                            [this] {
                              const auto store = TryOpen(OpenMode::kReadOnly);
                              if (!store.ok()) return 1;
                              const auto rows = store->List({});
                              return rows.ok() && rows->size() == 1 ? 0 : 2;
                            }),
            0);
}

TEST_F(OpenTest, ListInAClosedFolderSeesWhatAControllerHasJustWritten) {
  const auto controller = Open();
  ASSERT_TRUE(controller.Create(test::SampleJob("train"), "", kNow).ok());
  EXPECT_EQ(InAClosedFolder(dir(),
                            [this] {
                              const auto store = TryOpen(OpenMode::kReadOnly);
                              if (!store.ok()) return 1;
                              const auto rows = store->List({});
                              return rows.ok() && rows->size() == 1 ? 0 : 2;
                            }),
            0);
}

TEST_F(OpenTest, AnOlderStoreInAClosedFolderIsReadToo) {
  const auto script = base::ReadFile(Path(JOBMAN_SOURCE_DIR) / "tests/data/store/v1.sql");
  std::filesystem::create_directories(dir());
  ASSERT_TRUE(Database::Open(file().string(), SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)
                  .value()
                  .RunScript(script.value(), "testing")
                  .ok());
  const std::string before = Bytes();
  EXPECT_EQ(InAClosedFolder(dir(),
                            [this] {
                              const auto store = TryOpen(OpenMode::kReadOnly);
                              if (!store.ok()) return 1;
                              const auto rows = store->List({});
                              if (!rows.ok() || rows->size() != 4) return 2;
                              return store->Get({4}).ok() && store->Deliveries({4}).ok() ? 0 : 3;
                            }),
            0);
  EXPECT_EQ(Bytes(), before);
}

TEST_F(OpenTest, WritingToAFolderThatMayNotBeWrittenIsRefusedAtOnce) {
  CreateOne();
  EXPECT_EQ(InAClosedFolder(dir(),
                            [this] {
                              const auto store = TryOpen(OpenMode::kReadWrite);
                              if (store.ok()) return 1;
                              const base::Error& error = store.error();
                              if (error.reason != Reason::kNotWritable) return 2;
                              if (error.message.find(file().string()) == std::string::npos)
                                return 3;
                              return error.hint.find("JOBMAN_HOME") == std::string::npos ? 4 : 0;
                            }),
            0);
}

TEST_F(OpenTest, CreatingAStoreInAClosedFolderIsRefused) {
  std::filesystem::create_directories(dir());
  EXPECT_EQ(InAClosedFolder(dir(),
                            [this] {
                              const auto store = TryOpen(OpenMode::kReadWrite);
                              if (store.ok()) return 1;
                              return store.error().reason == Reason::kNotWritable ? 0 : 2;
                            }),
            0);
}

TEST_F(OpenTest, FileInPlaceOfTheFolderIsNamed) {
  std::ofstream(dir()) << "not a folder";
  for (const OpenMode mode : {OpenMode::kReadWrite, OpenMode::kReadOnly}) {
    const base::Error error = OpenError(mode);
    EXPECT_THAT(error.ToString(), HasSubstr(dir().string()));
    EXPECT_THAT(error.hint, HasSubstr("JOBMAN_HOME"));
  }
}

// --- Refusing ---

TEST_F(OpenTest, NewerStoreIsRefusedAndLeftUntouched) {
  CreateOne();
  Sql("PRAGMA user_version = 99; CREATE TABLE future (x)");
  const std::string before = Bytes();
  for (const OpenMode mode : {OpenMode::kReadWrite, OpenMode::kReadOnly}) {
    const base::Error error = OpenError(mode);
    EXPECT_EQ(error.reason, Reason::kNewerStore);
    EXPECT_THAT(error.message, HasSubstr("newer jobman"));
    EXPECT_THAT(error.message, HasSubstr("99"));
  }
  EXPECT_EQ(Bytes(), before);
}

TEST_F(OpenTest, AFileThatIsNotADatabaseIsNeverReplaced) {
  std::filesystem::create_directories(dir());
  std::ofstream(file()) << std::string(5000, 'x');
  const base::Error error = OpenError();
  EXPECT_EQ(error.code, Code::kDataLoss);
  EXPECT_THAT(error.message, HasSubstr(file().string()));
  EXPECT_EQ(Bytes(), std::string(5000, 'x'));
}

TEST_F(OpenTest, AnEmptyFileIsADamagedStoreNotANewOne) {
  std::filesystem::create_directories(dir());
  std::ofstream touch(file());
  const base::Error error = OpenError();
  EXPECT_EQ(error.code, Code::kDataLoss);
  EXPECT_THAT(error.hint, HasSubstr("copy"));
  EXPECT_EQ(Bytes(), "");
}

TEST_F(OpenTest, DatabaseOfAnotherProgramIsRefused) {
  std::filesystem::create_directories(dir());
  {
    auto other =
        Database::Open(file().string(), SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE).value();
    ASSERT_TRUE(other.RunScript("CREATE TABLE notes (x)", "testing").ok());
  }
  const std::string before = Bytes();
  EXPECT_THAT(OpenError().message, HasSubstr("not a jobman store"));
  EXPECT_EQ(Bytes(), before);
}

TEST_F(OpenTest, DamageIsReportedAndNothingIsReplaced) {
  CreateOne();
  const auto size = std::filesystem::file_size(file());
  {
    std::fstream damage(file(), std::ios::in | std::ios::out | std::ios::binary);
    damage.seekp(4096);
    damage << std::string(size - 4096, '\xee');
  }
  const std::string before = Bytes();
  const auto store = TryOpen(OpenMode::kReadWrite);
  const base::Error error = store.ok() ? store->List({}).error() : store.error();
  EXPECT_EQ(error.code, Code::kDataLoss);
  EXPECT_THAT(error.ToString(), HasSubstr("damaged"));
  EXPECT_EQ(Bytes(), before);
}

// --- The journal ---

std::string JournalMode(const Path& file) {
  auto db = Database::Open(file.string(), SQLITE_OPEN_READWRITE).value();
  return db.Pragma("journal_mode").value();
}

TEST_F(OpenTest, LocalDiskUsesTheWriteAheadLog) {
  ASSERT_TRUE(SqliteStore::Open(dir(), {.shared_file_system = false}).ok());
  EXPECT_EQ(JournalMode(file()), "wal");
}

TEST_F(OpenTest, SharedFileSystemUsesARollbackJournal) {
  ASSERT_TRUE(SqliteStore::Open(dir(), {.shared_file_system = true}).ok());
  EXPECT_EQ(JournalMode(file()), "delete");
}

TEST_F(OpenTest, StoreThatMovedToAnotherFileSystemChangesItsJournal) {
  const auto id = CreateOne();
  ASSERT_TRUE(SqliteStore::Open(dir(), {.shared_file_system = true}).ok());
  EXPECT_EQ(JournalMode(file()), "delete");
  const auto back = SqliteStore::Open(dir(), {.shared_file_system = false}).value();
  EXPECT_EQ(JournalMode(file()), "wal");
  EXPECT_EQ(test::RunNow(back->Get(id)).value().name, "train");
}

TEST_F(OpenTest, AFolderInThePlaceOfTheStoreIsNamed) {
  ASSERT_TRUE(base::EnsureDir(file()).ok());
  for (const OpenMode mode : {OpenMode::kReadWrite, OpenMode::kReadOnly}) {
    const base::Error error = OpenError(mode);
    EXPECT_EQ(error.code, Code::kFailedPrecondition);
    EXPECT_EQ(error.message, "the store " + file().string() + " is a folder");
    EXPECT_THAT(error.hint, HasSubstr("move it away"));
  }
}

}  // namespace
}  // namespace jobman::store
