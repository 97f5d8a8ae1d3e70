// An unprivileged user without $USER, home folder and terminal, with LANG=C: everything that can
// work does, and the rest says what it needs. Root becomes that user by setpriv; otherwise it is
// the user who runs the test, who has an account, except in a user namespace.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/e2e/place.hpp"

namespace jobman::test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr uid_t kNobody = 54321;  // in no password file
const std::string kNobodyText = std::to_string(kNobody);

class Stranger : public testing::Test {
 protected:
  void SetUp() override {
    if (root_ && RunProgram({"setpriv", "--version"}).code != 0) {
      GTEST_SKIP() << "setpriv (package util-linux) is not installed";
    }
    // The programs may have been built in a private folder.
    ASSERT_TRUE(base::EnsureDir(bin_, 0755).ok());
    for (const char* program : {"jobman", "jobman-sim"}) {
      std::filesystem::copy_file(base::Path(JOBMAN_BIN_DIR) / program, bin_ / program);
    }
    ASSERT_EQ(chmod(place_.path().c_str(), 0755), 0);
    ASSERT_EQ(chmod(bin_.c_str(), 0755), 0);
    ASSERT_TRUE(!root_ || chown(place_.home().c_str(), kNobody, kNobody) == 0);
  }

  /// Root may not use another user's home, and puts the place away.
  void TearDown() override {
    if (root_) RunProgram({"chown", "-R", "0:0", place_.home().string()});
  }

  /// `jobman ARGS` as the stranger, with only these variables in the environment.
  Ran Jobman(const std::vector<std::string>& args, const std::vector<std::string>& variables) {
    return Become(root_ ? ByRoot() : std::vector<std::string>{}, args, variables);
  }
  /// The same as the user that `prefix` makes of us.
  Ran Become(const std::vector<std::string>& prefix, const std::vector<std::string>& args,
             const std::vector<std::string>& variables) {
    std::vector<std::string> words = {"setsid", "--wait"};
    const auto add = [&words](const std::vector<std::string>& more) {
      words.insert(words.end(), more.begin(), more.end());
    };
    add(prefix);
    add({"env", "-i", "PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "LANG=C"});
    add(variables);
    add({(bin_ / "jobman").string()});
    add(args);
    return RunProgram(words);
  }
  static std::vector<std::string> ByRoot() {
    return {"setpriv", "--reuid", kNobodyText, "--regid", kNobodyText, "--clear-groups"};
  }
  /// Any user may take another id in a user namespace, where the kernel allows these.
  static std::vector<std::string> ByNamespace() {
    return {"unshare", "--user", "--map-user=" + kNobodyText, "--map-group=" + kNobodyText};
  }
  Ran AtHome(const std::vector<std::string>& args) {
    return Jobman(args, {"JOBMAN_HOME=" + place_.home().string(), "HOME=/nonexistent"});
  }
  /// A job file that the stranger may read.
  std::string File(const std::string& more = {}) {
    std::string file = place_.JobFile("small", 2, "echo hello", more);
    EXPECT_EQ(chmod(file.c_str(), 0644), 0);
    return file;
  }
  /// A file or folder that the stranger may not use.
  base::Path Forbidden(const std::string& name, mode_t mode) {
    base::Path path = place_.path() / name;
    EXPECT_TRUE(base::WriteFileAtomic(path, "secret\n").ok());
    EXPECT_EQ(chmod(path.c_str(), root_ ? mode : 0), 0);
    return path;
  }

  const bool root_ = getuid() == 0;
  Place place_;
  base::Path bin_ = place_.path() / "bin";
};

TEST_F(Stranger, RunsAJobFromItsFileToItsEnd) {
  const Ran ran = AtHome({"run", File()});
  EXPECT_EQ(ran.code, 0) << ran.All();
  EXPECT_THAT(ran.out, HasSubstr("host 1 | hello"));
  EXPECT_THAT(ran.out, HasSubstr("SUCCEEDED"));
  for (const char c : ran.All()) EXPECT_LT(static_cast<unsigned char>(c), 0x80U) << "LANG=C";
  EXPECT_THAT(ran.All(), Not(HasSubstr("\x1b["))) << "no terminal, no colours";
  const Ran exec = AtHome({"exec", "1", "--fold", "--", "echo $((6 * 7))"});
  EXPECT_THAT(exec.out, HasSubstr("hosts 0-1 (2): 42")) << exec.All();
  if (root_) {
    EXPECT_THAT(AtHome({"ssh", "1", "true"}).err, HasSubstr("use jobman exec 1"));
  }
  EXPECT_EQ(AtHome({"delete", "1", "--wait"}).code, 0);
  EXPECT_THAT(place_.Sim({"status"}).out, HasSubstr("no nodes, no queued resources"));
}

TEST_F(Stranger, WithoutAHomeIsToldWhatIsNeeded) {
  // An account has a home folder, which tests must not use.
  const auto become = root_ ? ByRoot() : ByNamespace();
  auto probe = become;
  probe.emplace_back("true");
  if (RunProgram(probe).code != 0) GTEST_SKIP() << "cannot become a user without an account here";
  for (const std::vector<std::string>& variables :
       {std::vector<std::string>{"HOME=/nonexistent"}, std::vector<std::string>{}}) {
    const Ran ran = Become(become, {"create", File()}, variables);
    EXPECT_EQ(ran.code, 2) << ran.All();
    EXPECT_THAT(ran.err, HasSubstr("JOBMAN_HOME"));
    EXPECT_EQ(ran.out, "");
  }
}

TEST_F(Stranger, AFolderThatCannotBeWrittenIsNamed) {
  const base::Path folder = place_.path() / "theirs";
  ASSERT_TRUE(base::EnsureDir(folder, 0555).ok());
  ASSERT_EQ(chmod(folder.c_str(), 0555), 0);
  const Ran ran = Jobman({"create", File()}, {"JOBMAN_HOME=" + folder.string()});
  EXPECT_EQ(ran.code, 2) << ran.All();
  EXPECT_THAT(ran.err, HasSubstr(folder.string()));
  EXPECT_THAT(ran.err, HasSubstr("set JOBMAN_HOME"));
  EXPECT_EQ(ran.out, "");
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  EXPECT_EQ(Jobman({"list"}, {"JOBMAN_HOME=" + folder.string()}).code, 0)
      << "reading needs no folder";
}

TEST_F(Stranger, AKeyThatCannotBeReadIsNamed) {
  const base::Path key = Forbidden("key", 0600);
  const Ran ran = AtHome({"create", File("ssh: {private_key: " + key.string() + "}\n")});
  EXPECT_EQ(ran.code, 2) << ran.All();
  EXPECT_THAT(ran.err, HasSubstr(key.string()));
  EXPECT_THAT(ran.err, HasSubstr("cannot be read: Permission denied"));
  EXPECT_THAT(ran.err, HasSubstr("name a key in ssh.private_key that you can read"));
  EXPECT_THAT(AtHome({"--json", "list", "--all"}).out, Not(HasSubstr("\"id\"")));
  EXPECT_FALSE(base::FileSize(place_.home() / "sim" / "sim.json")) << "no simulator was started";
}

TEST_F(Stranger, AJobFileThatCannotBeReadIsNamed) {
  const base::Path file = Forbidden("job.yaml", 0600);
  const Ran ran = AtHome({"create", file.string()});
  EXPECT_EQ(ran.code, 2) << ran.All();
  EXPECT_THAT(ran.err, HasSubstr(file.string()));
}

}  // namespace
}  // namespace jobman::test
