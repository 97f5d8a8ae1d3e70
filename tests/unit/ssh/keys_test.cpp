#include "jobman/ssh/keys.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "jobman/base/strings.hpp"
#include "tests/unit/ssh/test_sshd.hpp"

namespace jobman::ssh {
namespace {

using base::Contains;
using base::Reason;

unsigned ModeOf(const Path& path) {
  struct stat found = {};
  stat(path.c_str(), &found);
  return found.st_mode & 07777U;
}

TEST(EnsureKey, MakesAPairThatOpenSshReads) {
  const TempDir dir;
  const Path path = dir.path / "new/folder/key";
  const auto line = EnsureKey(path);
  ASSERT_TRUE(line.ok()) << line.error().ToString();
  EXPECT_TRUE(line->starts_with("ssh-ed25519 AAAA")) << *line;
  EXPECT_EQ(ModeOf(path), 0600U);
  EXPECT_EQ(ModeOf(path.parent_path()), 0700U);
  EXPECT_EQ(base::ReadFile(path.string() + ".pub").value_or(""), *line + "\n");
  EXPECT_TRUE(base::ReadFile(path).value_or("").starts_with("-----BEGIN OPENSSH PRIVATE KEY-----"));
  EXPECT_EQ(RunProgram({"ssh-keygen", "-y", "-f", path}), 0);
}

TEST(EnsureKey, NeverOverwrites) {
  const TempDir dir;
  const auto first = EnsureKey(dir.path / "key");
  const std::string before = base::ReadFile(dir.path / "key").value_or("");
  EXPECT_EQ(EnsureKey(dir.path / "key").value_or(""), first.value_or("none"));
  EXPECT_EQ(base::ReadFile(dir.path / "key").value_or(""), before);
}

TEST(EnsureKey, LeavesOtherFilesAlone) {
  const TempDir dir;
  ASSERT_TRUE(base::WriteFileAtomic(dir.path / "key", "my thesis").ok());
  const auto line = EnsureKey(dir.path / "key");
  ASSERT_FALSE(line.ok());
  EXPECT_EQ(line.error().reason, Reason::kKeyUnreadable);
  EXPECT_TRUE(Contains(line.error().message, "not a private key")) << line.error().message;
  EXPECT_EQ(base::ReadFile(dir.path / "key").value_or(""), "my thesis");
}

TEST(EnsureKey, RefusesAKeyThatOthersCanRead) {
  const TempDir dir;
  ASSERT_TRUE(EnsureKey(dir.path / "key").ok());
  chmod((dir.path / "key").c_str(), 0644);
  const auto line = EnsureKey(dir.path / "key");
  ASSERT_FALSE(line.ok());
  EXPECT_EQ(line.error().reason, Reason::kKeyUnreadable);
  EXPECT_TRUE(Contains(line.error().message, "0644")) << line.error().message;
  EXPECT_TRUE(Contains(line.error().hint, "chmod 600")) << line.error().hint;
}

TEST(EnsureKey, RefusesAKeyThatOthersCanReplace) {
  const TempDir dir;
  ASSERT_TRUE(EnsureKey(dir.path / "open/key").ok());
  chmod((dir.path / "open").c_str(), 0777);
  const auto line = EnsureKey(dir.path / "open/key");
  ASSERT_FALSE(line.ok());
  EXPECT_EQ(line.error().reason, Reason::kKeyUnreadable);
  EXPECT_TRUE(Contains(line.error().message, "open can be written by other users"))
      << line.error().message;
}

TEST(PublicKeyLine, ReadsEveryKindOfKey) {
  const TempDir dir;
  for (const std::string type : {"rsa", "ecdsa", "ed25519"}) {
    const Path path = dir.path / type;
    ASSERT_EQ(RunProgram({"ssh-keygen", "-q", "-t", type, "-N", "", "-f", path}), 0);
    const auto line = PublicKeyLine(path);
    ASSERT_TRUE(line.ok()) << line.error().ToString();
    const std::string written = base::ReadFile(path.string() + ".pub").value_or("");
    EXPECT_EQ(line->substr(0, line->rfind(' ')), written.substr(0, written.rfind(' ')));
  }
}

TEST(PublicKeyLine, UsesThePublicFileOfAnEncryptedKey) {
  const TempDir dir;
  const Path path = dir.path / "key";
  ASSERT_EQ(RunProgram({"ssh-keygen", "-q", "-t", "ed25519", "-N", "secret", "-f", path}), 0);
  EXPECT_TRUE(PublicKeyLine(path).ok());
  std::filesystem::remove(path.string() + ".pub");
  const auto line = PublicKeyLine(path);
  ASSERT_FALSE(line.ok());
  EXPECT_TRUE(Contains(line.error().message, "encrypted")) << line.error().message;
}

TEST(CheckUsable, AnEncryptedKeyNeedsAPassphraseOrAnAgent) {
  const TempDir dir;
  const Path path = dir.path / "key";
  ASSERT_EQ(RunProgram({"ssh-keygen", "-q", "-t", "ed25519", "-N", "secret", "-f", path}), 0);
  const auto says = [](const char* passphrase) {
    return [passphrase](const Path&) { return std::optional<std::string>(passphrase); };
  };
  ::unsetenv("SSH_AUTH_SOCK");
  EXPECT_TRUE(CheckUsable(path, says("secret")).ok());
  EXPECT_FALSE(CheckUsable(path, says("wrong")).ok());
  const auto closed = CheckUsable(path, {});
  ASSERT_FALSE(closed.ok());
  EXPECT_EQ(closed.error().reason, Reason::kKeyUnreadable);
  EXPECT_TRUE(Contains(closed.error().hint, "JOBMAN_SSH_PASSPHRASE")) << closed.error().hint;
  ::setenv("SSH_AUTH_SOCK", "/nowhere", 1);
  EXPECT_TRUE(CheckUsable(path, {}).ok());
  ::unsetenv("SSH_AUTH_SOCK");
}

TEST(PublicKeyLine, NamesAMissingFile) {
  const TempDir dir;
  const auto line = PublicKeyLine(dir.path / "key");
  ASSERT_FALSE(line.ok());
  EXPECT_EQ(line.error().reason, Reason::kKeyUnreadable);
  EXPECT_TRUE(Contains(line.error().message, "No such file")) << line.error().message;
}

TEST(PublicKeyLine, TooManyOpenFilesIsNotAnUnreadableKey) {
  const TempDir dir;
  ASSERT_TRUE(EnsureKey(dir.path / "key").ok());
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{.rlim_cur = 0, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const auto line = PublicKeyLine(dir.path / "key");
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_FALSE(line.ok());
  EXPECT_EQ(line.error().code, base::Code::kResourceExhausted);
  EXPECT_NE(line.error().reason, Reason::kKeyUnreadable);
  EXPECT_TRUE(Contains(line.error().hint, "ulimit -n")) << line.error().hint;
}

}  // namespace
}  // namespace jobman::ssh
