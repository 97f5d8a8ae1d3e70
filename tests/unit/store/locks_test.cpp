// What a store needs of a file system of the network. Few machines for tests can mount NFS, so its
// failures are played at the one call that they come from; FUSE is real where it may be mounted.
#include "store/locks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "jobman/base/process.hpp"
#include "jobman/base/task.hpp"
#include "jobman/store/site.hpp"
#include "jobman/store/sqlite_store.hpp"
#include "store/file_system.hpp"
#include "store/sqlite.hpp"
#include "tests/support/child.hpp"
#include "tests/support/direct_store.hpp"
#include "tests/support/sample_job.hpp"
#include "tests/support/temp_dir.hpp"

namespace jobman::store {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class Locks : public testing::Test {
 protected:
  ~Locks() override {
    // What the probe makes it also removes.
    EXPECT_TRUE(std::filesystem::is_empty(dir_.path()));
  }
  std::string ErrorWith(LockCall call, base::Duration limit = std::chrono::seconds{30}) {
    const base::Status probed = ProbeLocks(dir_.path(), limit, call);
    if (probed.ok()) return "none";
    EXPECT_EQ(probed.error().code, base::Code::kUnavailable);
    EXPECT_THAT(probed.error().hint, HasSubstr("set JOBMAN_HOME to a folder on a local disk"));
    return probed.error().message;
  }

  test::TempDir dir_;
};

TEST_F(Locks, OfALocalDiskAreGood) {
  EXPECT_EQ(ErrorWith(SystemLock), "none");
}

TEST_F(Locks, ThatTheServerRefusesAreToldOf) {
  const auto refuse = [](int, int, struct flock*) {
    errno = ENOLCK;
    return -1;
  };
  EXPECT_THAT(ErrorWith(refuse), AllOf(HasSubstr(dir_.path().string()),
                                       HasSubstr("does not lock files: No locks available")));
}

TEST_F(Locks, ThatAreNeverAnsweredAreGivenUp) {
  const auto hang = [](int, int, struct flock*) {
    for (;;) pause();
    return 0;
  };
  EXPECT_THAT(ErrorWith(hang, std::chrono::milliseconds{50}),
              HasSubstr("does not answer when a file is locked"));
}

TEST_F(Locks, ThatOnlyPretendAreFound) {
  const auto pretend = [](int, int, struct flock* lock) {
    lock->l_type = F_UNLCK;
    return 0;
  };
  EXPECT_THAT(ErrorWith(pretend), HasSubstr("lets two processes lock one file"));
}

TEST_F(Locks, InAFolderThatCannotBeWrittenSaysNothing) {
  EXPECT_TRUE(ProbeLocks(dir_.path() / "none").ok());
}

/// A folder on FUSE: bindfs shows another one. Skipped where it cannot be mounted.
class OnFuse : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(Real());
    std::filesystem::create_directories(Seen());
    asio::io_context loop;
    std::vector<std::string> argv = {"bindfs", "--no-allow-other", Real().string(),
                                     Seen().string()};
    auto mounting = base::RunProcess(std::move(argv));
    const auto mounted = base::RunTask(
        loop, base::WithTimeout(std::move(mounting), std::chrono::seconds{30}, "mounting"));
    mounted_ = mounted.ok() && mounted->exit_code == 0 && IsOnSharedFileSystem(Seen());
    if (!mounted_) GTEST_SKIP() << "bindfs cannot mount here";
  }
  void TearDown() override {
    if (!mounted_) return;
    EXPECT_EQ(umount2(Seen().c_str(), MNT_DETACH), 0);
  }
  base::Path Real() const { return dir_.path() / "real"; }
  base::Path Seen() const { return dir_.path() / "seen"; }
  base::Result<test::DirectStore> Open() const {
    JM_ASSIGN_OR_RETURN(auto store, SqliteStore::Open(Seen(), OpenMode::kReadWrite));
    return test::DirectStore(std::move(store));
  }

  test::TempDir dir_;
  bool mounted_ = false;
};

TEST_F(OnFuse, AStoreHasNoWriteAheadLogAndIsOfThisMachine) {
  const auto store = Open();
  ASSERT_TRUE(store.ok()) << store.error().ToString();
  ASSERT_TRUE(store->Create(test::SampleJob("train"), "", test::kNow).ok());
  EXPECT_FALSE(base::FileSize(Real() / "jobman.db-wal"));
  EXPECT_THAT(MountOf(Seen()).type, testing::StartsWith("fuse"));
  EXPECT_FALSE(LookAtSite(Seen()).shared) << "no other machine sees its locks";
}

TEST_F(OnFuse, SeveralProcessesShareAStore) {
  ASSERT_TRUE(Open().ok());
  std::vector<std::unique_ptr<test::Child>> children;
  for (int i = 0; i < 3; ++i)
    children.push_back(std::make_unique<test::Child>([this] {
      const auto store = Open();
      for (int job = 0; store.ok() && job < 4; ++job)
        if (!store->Create(test::SampleJob("train"), "", test::kNow).ok()) return 1;
      return store.ok() ? 0 : 2;
    }));
  for (auto& child : children) EXPECT_EQ(child->Wait(), 0);
  EXPECT_EQ(Open()->List({}).value().size(), 12U);
}

}  // namespace
}  // namespace jobman::store
