#include "jobman/base/files.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <optional>

#include "tests/support/temp_dir.hpp"

namespace jobman::base {
namespace {

using test::TempDir;

mode_t ModeOf(const Path& path) {
  struct stat info = {};
  return ::stat(path.c_str(), &info) == 0 ? info.st_mode & 07777 : 0;
}

int EntriesIn(const Path& folder) {
  int count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder)) ++count;
  return count;
}

/// Sets (or unsets) an environment variable until the end of a test.
class ScopedEnv {
 public:
  ScopedEnv(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    Set(value);
  }
  ~ScopedEnv() { Set(before_ ? before_->c_str() : nullptr); }
  ScopedEnv(const ScopedEnv&) = delete;
  ScopedEnv& operator=(const ScopedEnv&) = delete;

 private:
  void Set(const char* value) {
    if (value == nullptr) {
      ::unsetenv(name_);
    } else {
      ::setenv(name_, value, 1);
    }
  }
  const char* name_;
  std::optional<std::string> before_;
};

TEST(ReadFile, ReadsEveryByte) {
  const TempDir dir;
  std::string bytes(200'000, 'x');
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 7);
  ASSERT_TRUE(WriteFileAtomic(dir / "f", bytes).ok());
  EXPECT_EQ(*ReadFile(dir / "f"), bytes);
}

TEST(ReadFile, AbsentFileIsNotFoundAndNamed) {
  const TempDir dir;
  const auto absent = ReadFile(dir / "absent");
  ASSERT_FALSE(absent.ok());
  EXPECT_EQ(absent.error().code, Code::kNotFound);
  EXPECT_EQ(absent.error().message,
            "opening " + (dir / "absent").string() + ": No such file or directory");
}

TEST(ReadFile, FolderIsAnError) {
  const TempDir dir;
  EXPECT_FALSE(ReadFile(dir.path()).ok());
}

TEST(WriteFileAtomic, ReplacesTheFileAndLeavesNothingElse) {
  const TempDir dir;
  ASSERT_TRUE(WriteFileAtomic(dir / "f", "old").ok());
  ASSERT_TRUE(WriteFileAtomic(dir / "f", "new").ok());
  EXPECT_EQ(*ReadFile(dir / "f"), "new");
  EXPECT_EQ(EntriesIn(dir.path()), 1);
}

TEST(WriteFileAtomic, AnErrorNamesTheFile) {
  const TempDir dir;
  const Status written = WriteFileAtomic(dir / "absent" / "f", "x");
  ASSERT_FALSE(written.ok());
  EXPECT_EQ(written.error().message,
            "creating " + (dir / "absent" / "f").string() + ": No such file or directory");
}

TEST(WriteFileAtomic, OpenReaderKeepsTheOldFile) {
  const TempDir dir;
  ASSERT_TRUE(WriteFileAtomic(dir / "f", "old").ok());
  const UniqueFd reader(::open((dir / "f").c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_TRUE(WriteFileAtomic(dir / "f", "new!").ok());
  char buffer[8] = {};
  ASSERT_EQ(::read(reader.get(), buffer, sizeof(buffer)), 3);
  EXPECT_STREQ(buffer, "old");
}

TEST(WriteFileAtomic, SetsTheModeWhateverTheUmask) {
  const TempDir dir;
  const mode_t before = ::umask(0077);
  const Status shared = WriteFileAtomic(dir / "shared", "x", 0644);
  ::umask(0);
  const Status own = WriteFileAtomic(dir / "own", "x");
  ::umask(before);
  ASSERT_TRUE(shared.ok() && own.ok());
  EXPECT_EQ(ModeOf(dir / "shared"), 0644u);
  EXPECT_EQ(ModeOf(dir / "own"), 0600u);
}

TEST(WriteFileAtomic, FailureNamesTheFileAndKeepsTheOldOne) {
  const TempDir dir;
  EXPECT_FALSE(WriteFileAtomic(dir / "no-such-folder/f", "x").ok());
  // A folder cannot be replaced by a file: the rename fails, and the temporary file must be
  // removed.
  ASSERT_TRUE(EnsureDir(dir / "taken/inside").ok());
  const Status status = WriteFileAtomic(dir / "taken", "x");
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().message.find((dir / "taken").string()), std::string::npos);
  EXPECT_EQ(EntriesIn(dir.path()), 1);
}

TEST(EnsureDir, CreatesWhatIsMissingWithTheMode) {
  const TempDir dir;
  ASSERT_TRUE(EnsureDir(dir / "a/b/c", 0700).ok());
  EXPECT_EQ(ModeOf(dir / "a"), 0700u);
  EXPECT_EQ(ModeOf(dir / "a/b/c"), 0700u);
  EXPECT_TRUE(EnsureDir(dir / "a/b/c/", 0700).ok());
}

TEST(EnsureDir, LeavesAnExistingFolderAsItIs) {
  const TempDir dir;
  ASSERT_EQ(::mkdir((dir / "a").c_str(), 0755), 0);
  ASSERT_EQ(::chmod((dir / "a").c_str(), 0755), 0);
  ASSERT_TRUE(EnsureDir(dir / "a", 0700).ok());
  EXPECT_EQ(ModeOf(dir / "a"), 0755u);
}

TEST(EnsureDir, FileInTheWayIsAnError) {
  const TempDir dir;
  ASSERT_TRUE(WriteFileAtomic(dir / "f", "x").ok());
  EXPECT_EQ(EnsureDir(dir / "f").error().code, Code::kAlreadyExists);
  EXPECT_FALSE(EnsureDir(dir / "f/below").ok());
}

TEST(AppendFile, AppendsAtTheEndOfTheFile) {
  const TempDir dir;
  {
    auto first = AppendFile::Open(dir / "log");
    ASSERT_TRUE(first.ok());
    ASSERT_TRUE(first->Append("one\n").ok());
    EXPECT_EQ(first->size(), 4);
  }
  auto second = AppendFile::Open(dir / "log");
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(second->size(), 4);
  ASSERT_TRUE(second->Append("two\n").ok());
  EXPECT_EQ(second->size(), 8);
  EXPECT_EQ(*ReadFile(dir / "log"), "one\ntwo\n");
  EXPECT_EQ(FileSize(dir / "log"), 8);
  EXPECT_EQ(ModeOf(dir / "log"), 0600u);
}

TEST(AppendFile, TwoWritersOfTheSameBytesAppendThemOnce) {
  const TempDir dir;
  auto stopped = AppendFile::Open(dir / "log");
  ASSERT_TRUE(stopped->Append("one\n").ok());
  auto other = AppendFile::Open(dir / "log");
  ASSERT_TRUE(other->Append("two\nthree\n").ok());
  ASSERT_TRUE(stopped->Append("two\n").ok());
  EXPECT_EQ(*ReadFile(dir / "log"), "one\ntwo\nthree\n");
}

TEST(AppendFile, FullDiskHasItsReason) {
  if (::access("/dev/full", W_OK) != 0) GTEST_SKIP() << "there is no /dev/full";
  auto full = AppendFile::Open("/dev/full");
  ASSERT_TRUE(full.ok());
  const Status status = full->Append("x");
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().reason, Reason::kDiskFull);
  EXPECT_EQ(status.error().message, "writing /dev/full: No space left on device");
  EXPECT_EQ(full->size(), 0);
}

TEST(AppendFile, IsNotInheritedByChildren) {
  const TempDir dir;
  const int before = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::close(before);
  // Open gets the lowest free descriptor.
  auto file = AppendFile::Open(dir / "log");
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(::fcntl(before, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
}

TEST(FileSize, IsNothingForAnAbsentFile) {
  const TempDir dir;
  EXPECT_FALSE(FileSize(dir / "absent"));
}

TEST(RemoveAll, RemovesTheTreeAndIsSafeToRepeat) {
  const TempDir dir;
  ASSERT_TRUE(EnsureDir(dir / "a/b").ok());
  ASSERT_TRUE(WriteFileAtomic(dir / "a/b/f", "x").ok());
  EXPECT_TRUE(RemoveAll(dir / "a").ok());
  EXPECT_TRUE(RemoveAll(dir / "a").ok());
  EXPECT_EQ(EntriesIn(dir.path()), 0);
}

TEST(HomeDir, IsHomeElseThePasswordDatabase) {
  {
    const ScopedEnv home("HOME", "/home/of/test");
    EXPECT_EQ(HomeDir(), "/home/of/test");
    EXPECT_EQ(ExpandHome("~"), "/home/of/test");
    EXPECT_EQ(ExpandHome("~/x/y"), "/home/of/test/x/y");
    EXPECT_EQ(ExpandHome("~other/x"), "~other/x");
    EXPECT_EQ(ExpandHome("/a/~"), "/a/~");
  }
  const ScopedEnv home("HOME", nullptr);
  EXPECT_EQ(HomeDir().string().find("/home/of/test"), std::string::npos);
}

TEST(UserName, IsTheAccountsWhateverTheEnvironmentSays) {
  const passwd* const account = ::getpwuid(::getuid());
  for (const char* said : {"ada", ""}) {
    const ScopedEnv user("USER", said);
    EXPECT_EQ(UserName(), account != nullptr ? account->pw_name : said);
  }
}

TEST(SelfExe, IsThisProgram) {
  EXPECT_EQ(SelfExe().filename(), program_invocation_short_name);
}

TEST(UniqueFd, ClosesOnceAndCanBeMoved) {
  int number = -1;
  {
    UniqueFd first(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    number = first.get();
    UniqueFd second(std::move(first));
    EXPECT_FALSE(first);  // NOLINT(bugprone-use-after-move): moved-from means empty
    EXPECT_EQ(second.get(), number);
    UniqueFd third;
    third = std::move(second);
    EXPECT_EQ(third.get(), number);
    EXPECT_NE(::fcntl(number, F_GETFD), -1);
  }
  EXPECT_EQ(::fcntl(number, F_GETFD), -1);
}

TEST(ReadFile, IsBoundedForAnEndlessDevice) {
  const auto read = ReadFile("/dev/zero", 1000);
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().code, Code::kInvalidArgument);
  EXPECT_EQ(read.error().message, "/dev/zero is longer than 1000 bytes");
}

TEST(ReadRegularFile, DoesNotWaitForTheWriterOfAPipe) {
  const TempDir dir;
  ASSERT_EQ(::mkfifo((dir / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(ReadRegularFile(dir / "pipe").error().code, Code::kInvalidArgument);
  ASSERT_TRUE(WriteFileAtomic(dir / "file", "text").ok());
  EXPECT_EQ(ReadRegularFile(dir / "file").value(), "text");
}

TEST(FreeSpace, IsOfTheDiskOfAFolder) {
  const TempDir dir;
  EXPECT_GT(FreeSpace(dir.path()).value_or(0), 0);
  EXPECT_FALSE(FreeSpace(dir / "nothing"));
  EXPECT_FALSE(FreeSpace("/proc")) << "no disk is there that could be full";
}

TEST(EnsureDir, NamesTheCure) {
  EXPECT_EQ(EnsureDir("/dev/null/x").error().code, Code::kFailedPrecondition);
  const TempDir dir;
  ASSERT_EQ(::symlink("loop", (dir / "loop").c_str()), 0);
  const Error error = EnsureDir(dir / "loop").error();
  EXPECT_EQ(error.code, Code::kFailedPrecondition);
  EXPECT_TRUE(error.message.ends_with("Too many levels of symbolic links")) << error.message;
  EXPECT_FALSE(error.hint.empty());
}

TEST(RealPath, IsOneForOneFile) {
  const TempDir dir;
  const Path real = std::filesystem::canonical(dir.path());
  ASSERT_TRUE(WriteFileAtomic(dir / "file", "").ok());
  ASSERT_EQ(::symlink("file", (dir / "link").c_str()), 0);
  EXPECT_EQ(RealPath(dir / "link"), real / "file");
  EXPECT_EQ(RealPath(dir / "." / "x" / ".." / "file"), real / "file");
  EXPECT_EQ(RealPath(dir / "none" / "file"), real / "none" / "file") << "it need not exist";
  ASSERT_EQ(::symlink("loop", (dir / "loop").c_str()), 0);
  EXPECT_EQ(RealPath(dir / "a" / ".." / "loop"), dir / "loop");
  EXPECT_TRUE(RealPath("file").is_absolute());
}

}  // namespace
}  // namespace jobman::base
