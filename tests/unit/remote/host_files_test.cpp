// host.sh have, put and fetch: files that a run needs.
#include <gmock/gmock.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <cstdlib>

#include "jobman/base/hash.hpp"
#include "tests/unit/remote/host_script_fixture.hpp"

namespace jobman::remote {
namespace {

using testing::HasSubstr;
using testing::UnorderedElementsAre;

constexpr const char* kFile = "s1.j000001.abc.tar.gz";
constexpr const char* kPrefix = "s1.j000001.";

class HostFilesTest : public HostScriptTest {
 protected:
  base::Path Folder() { return host.home() / ".jobman/files"; }
  std::vector<std::string> Files() {
    std::vector<std::string> names;
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator(Folder(), none))
      names.push_back(entry.path().filename());
    return names;
  }
  RunStatus Have(const std::string& file) {
    const Ended ended = host.Do(HaveCall(file));
    EXPECT_EQ(ended.exit_code, 0);
    return *ParseStatus(ended.err);
  }
  /// Sends `sent` for a file that should be `content`.
  RunStatus Put(const std::string& file, const std::string& content, const std::string& sent,
                const std::string& replaces = kPrefix) {
    Call call = PutCall(file, static_cast<std::int64_t>(content.size()), base::Sha256Hex(content),
                        replaces);
    call.input = sent;
    const Ended ended = host.Do(call);
    const RunStatus status = *ParseStatus(ended.err);
    EXPECT_EQ(ended.exit_code, status.kind == Kind::kError ? kExitHostError : 0) << ended.err;
    EXPECT_EQ(ended.out, "");
    return status;
  }
  /// What ssh on this host is: `script` in place of it.
  void SshIs(const std::string& script) {
    const base::Path ssh = host.home() / "fake/ssh";
    std::filesystem::create_directories(ssh.parent_path());
    ASSERT_TRUE(base::WriteFileAtomic(ssh, "#!/bin/sh\n" + script, 0755).ok());
  }
  /// Of the host 10.0.0.7, which has it as NAME.
  RunStatus Fetch(const std::string& content) {
    Call call =
        FetchCall(kFile, static_cast<std::int64_t>(content.size()), base::Sha256Hex(content),
                  kPrefix, {.address = "10.0.0.7", .name = "s1.j000001.h7.abc.tar.gz"});
    call.command = "PATH=~/fake:$PATH; export PATH; " + call.command;
    const Ended ended = host.Do(call);
    EXPECT_EQ(ended.exit_code, 0) << ended.err;
    EXPECT_EQ(ended.out, "");
    return *ParseStatus(ended.err);
  }
};

INSTANTIATE_TEST_SUITE_P(Shells, HostFilesTest, EveryShell(), ShellName);

TEST_P(HostFilesTest, AFileThatWasPutIsThere) {
  EXPECT_EQ(Have(kFile).kind, Kind::kAbsent);
  const std::string content = std::string("a\0b\n", 4) + std::string(300'000, 'x');
  EXPECT_EQ(Put(kFile, content, content), (RunStatus{.kind = Kind::kExited}));
  EXPECT_EQ(Have(kFile), (RunStatus{.kind = Kind::kExited}));
  EXPECT_EQ(Slurp(Folder() / kFile), content);
  struct stat info {};
  ASSERT_EQ(stat((Folder() / kFile).c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0600U);
}

TEST_P(HostFilesTest, AFileThatIsNotWholeIsNotKept) {
  const RunStatus cut = Put(kFile, "the whole content", "the whole");
  EXPECT_EQ(cut.kind, Kind::kError);
  EXPECT_EQ(cut.text, std::string(kFile) + " arrived incomplete, 9 of 17 bytes; nothing was kept");
  const RunStatus other = Put(kFile, "the whole content", "the whole CONTENT");
  EXPECT_THAT(other.text, HasSubstr("arrived with other content than was sent"));
  EXPECT_THAT(Files(), testing::IsEmpty());
  EXPECT_EQ(Have(kFile).kind, Kind::kAbsent);
}

TEST_P(HostFilesTest, EarlierFilesOfTheJobGoOnceTheNewOneIsThere) {
  Put("s1.j000002.x.tar.gz", "other job", "other job", "s1.j000002.");
  Put(kFile, "one", "one");
  Put("s1.j000001.def.tar.gz", "two", "tw");
  EXPECT_THAT(Files(), UnorderedElementsAre("s1.j000002.x.tar.gz", kFile));
  Put("s1.j000001.def.tar.gz", "two", "two");
  EXPECT_THAT(Files(), UnorderedElementsAre("s1.j000002.x.tar.gz", "s1.j000001.def.tar.gz"));
}

TEST_P(HostFilesTest, WhatAKilledCallLeftGoesLater) {
  Put(kFile, "one", "one");
  const std::string old = (Folder() / "s1.j000009.x.part.AAAAAA").string();
  const std::string fresh = (Folder() / "s1.j000009.x.part.BBBBBB").string();
  ASSERT_EQ(std::system(("touch -d '2 hours ago' " + old + "; touch " + fresh).c_str()), 0);
  Put("s1.j000001.def.tar.gz", "two", "two");
  EXPECT_FALSE(std::filesystem::exists(old));
  EXPECT_TRUE(std::filesystem::exists(fresh)) << "somebody may be writing to it";
}

TEST_P(HostFilesTest, AFileOfAnotherHostIsFetchedThereInItsHomeFolder) {
  const std::string content(100'000, 'x');
  ASSERT_TRUE(base::WriteFileAtomic(host.home() / "there", content).ok());
  SshIs("printf '%s\\n' \"$@\" >~/asked; cat; cat ~/there\n");
  Put("s1.j000001.old.tar.gz", "old", "old");
  EXPECT_EQ(Fetch(content), (RunStatus{.kind = Kind::kExited}));
  EXPECT_EQ(Slurp(Folder() / kFile), content) << "and nothing is read from the call's stdin";
  EXPECT_THAT(Files(), UnorderedElementsAre(kFile)) << "the older one is removed";
  EXPECT_THAT(Slurp(host.home() / "asked"),
              HasSubstr("\n--\n10.0.0.7\nexec cat -- .jobman/files/s1.j000001.h7.abc.tar.gz\n"));
}

TEST_P(HostFilesTest, WhatAnotherHostDoesNotGiveIsAbsent) {
  Put("s1.j000001.old.tar.gz", "old", "old");
  for (const std::string ssh : {"echo refused >&2; exit 255\n", "printf other\n", "printf ab\n",
                                "printf abc; kill -9 $$\n", "exit 0\n"}) {
    SshIs(ssh);
    const std::string content = "abcd";
    EXPECT_EQ(Fetch(content).kind, Kind::kAbsent) << ssh;
    EXPECT_THAT(Files(), UnorderedElementsAre("s1.j000001.old.tar.gz")) << "nothing is kept";
  }
}

TEST_P(HostFilesTest, AHostThatHangsOrDripsIsGivenUp) {
  // The limit is written down, and shortened.
  SshIs("printf ab; exec sleep 600\n");
  ASSERT_TRUE(base::WriteFileAtomic(
                  host.home() / "fake/timeout",
                  "#!/bin/sh\necho $1 >~/limit; shift; exec /usr/bin/timeout 0.3 \"$@\"\n", 0755)
                  .ok());
  EXPECT_EQ(Fetch(std::string(50'000'000, 'x')).kind, Kind::kAbsent);
  EXPECT_EQ(Slurp(host.home() / "limit"), "70\n") << "a minute, and 5 MB a second";
  EXPECT_THAT(Files(), testing::IsEmpty());
}

/// Nor is there room to say so: the host is then sent the file, and that names the disk.
TEST_P(HostFilesTest, WhatAFullDiskDoesNotTakeIsAbsent) {
  std::filesystem::create_directories(Folder());
  if (getuid() != 0 || mount("tmpfs", Folder().c_str(), "tmpfs", 0, "size=64k") != 0)
    GTEST_SKIP() << "this user cannot mount a small disk";
  SshIs("head -c 1000000 /dev/zero\n");
  EXPECT_EQ(Fetch(std::string(1'000'000, '\0')).kind, Kind::kAbsent);
  EXPECT_THAT(Files(), testing::IsEmpty());
  umount2(Folder().c_str(), MNT_DETACH);
}

TEST_P(HostFilesTest, AFullDiskIsNamed) {
  std::filesystem::create_directories(Folder());
  if (getuid() != 0 || mount("tmpfs", Folder().c_str(), "tmpfs", 0, "size=64k") != 0)
    GTEST_SKIP() << "this user cannot mount a small disk";
  const std::string large(1'000'000, 'x');
  const RunStatus full = Put(kFile, large, large);
  EXPECT_THAT(Files(), testing::IsEmpty());
  umount2(Folder().c_str(), MNT_DETACH);
  EXPECT_EQ(full.kind, Kind::kError);
  EXPECT_THAT(full.text, HasSubstr("no room for 1000000 bytes in "));
  EXPECT_THAT(full.text, HasSubstr("No space left on device"));
}

TEST_P(HostFilesTest, AFolderThatCannotBeMadeIsNamed) {
  std::filesystem::create_symlink("/proc/nowhere", Folder());
  const RunStatus status = Put(kFile, "one", "one");
  EXPECT_EQ(status.kind, Kind::kError);
  EXPECT_THAT(status.text, HasSubstr("cannot create " + Folder().string()));
}

}  // namespace
}  // namespace jobman::remote
