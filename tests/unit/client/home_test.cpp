#include "jobman/client/context.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <map>
#include <optional>

#include "tests/support/temp_dir.hpp"

namespace jobman::client {
namespace {

class FindHomeTest : public testing::Test {
 protected:
  FindHomeTest() {
    for (const char* name : {"JOBMAN_HOME", "XDG_STATE_HOME", "HOME"}) {
      const char* value = ::getenv(name);
      before_[name] = value != nullptr ? std::optional<std::string>(value) : std::nullopt;
      ::unsetenv(name);
    }
  }
  ~FindHomeTest() override {
    for (const auto& [name, value] : before_) {
      if (value) {
        ::setenv(name.c_str(), value->c_str(), 1);
      } else {
        ::unsetenv(name.c_str());
      }
    }
  }
  static std::string Home(const std::string& option = {}) {
    const auto home = FindHome(option);
    return home.ok() ? home->string() : home.error().ToString();
  }

 private:
  std::map<std::string, std::optional<std::string>> before_;
};

TEST_F(FindHomeTest, TheMostSpecificSettingWins) {
  ::setenv("HOME", "/h", 1);
  EXPECT_EQ(Home(), "/h/.local/state/jobman");
  ::setenv("XDG_STATE_HOME", "/state", 1);
  EXPECT_EQ(Home(), "/state/jobman");
  ::setenv("JOBMAN_HOME", "/j", 1);
  EXPECT_EQ(Home(), "/j");
  EXPECT_EQ(Home("/option"), "/option");
}

TEST_F(FindHomeTest, ThePlaceIsAbsolute) {
  ::setenv("HOME", "/h", 1);
  EXPECT_EQ(Home("~/x"), "/h/x");
  EXPECT_EQ(Home("a/../b"), (std::filesystem::current_path() / "b").string());
}

class OpenStoresTest : public testing::Test {
 protected:
  base::Result<ports::Stores> Open(StoreUse use) {
    return OpenStores(paths_, use, [this](const base::StatePaths&, StoreUse) {
      ++opened_;
      return base::Result<ports::Stores>(ports::Stores{});
    });
  }
  void Mode(const base::Path& path, mode_t mode) { ASSERT_EQ(::chmod(path.c_str(), mode), 0); }
  void IsRefused(const std::string& why) {
    for (const StoreUse use : {StoreUse::kRead, StoreUse::kWrite}) {
      const auto stores = Open(use);
      ASSERT_FALSE(stores.ok());
      EXPECT_EQ(stores.error().code, base::Code::kFailedPrecondition);
      EXPECT_NE(stores.error().message.find(why), std::string::npos) << stores.error().message;
      EXPECT_NE(stores.error().hint.find("JOBMAN_HOME"), std::string::npos);
    }
    EXPECT_EQ(opened_, 0);
  }
  test::TempDir dir_;
  base::StatePaths paths_{.home = dir_ / "home"};
  int opened_ = 0;
};

TEST_F(OpenStoresTest, AHomeIsMadeForThisUserAlone) {
  EXPECT_TRUE(Open(StoreUse::kRead).ok());
  EXPECT_FALSE(std::filesystem::exists(paths_.home));
  EXPECT_TRUE(Open(StoreUse::kWrite).ok());
  struct stat info {};
  ASSERT_EQ(::stat(paths_.home.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777U, 0700U);
}

TEST_F(OpenStoresTest, AHomeThatOthersCanChangeIsRefused) {
  ASSERT_TRUE(base::EnsureDir(paths_.StoreDir()).ok());
  ASSERT_TRUE(base::WriteFileAtomic(paths_.StoreFile(), "").ok());
  Mode(paths_.home, 0777);
  IsRefused("home can be written by other users");
  Mode(paths_.home, 0700);
  Mode(paths_.StoreDir(), 01777);
  Mode(paths_.StoreFile(), 0666);
  IsRefused("jobman.db can be written by other users");
  Mode(paths_.StoreFile(), 0600);
  Mode(paths_.StoreDir(), 0707);
  IsRefused("store can be written by other users");
  Mode(paths_.StoreDir(), 0700);
  Mode(dir_.path(), 0777);
  IsRefused(dir_.path().string() + " can be written by other users");
  Mode(dir_.path(), 0755);
  EXPECT_TRUE(Open(StoreUse::kRead).ok());
}

TEST_F(OpenStoresTest, AHomeOfAnotherUserIsRefusedAlsoToRoot) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  ASSERT_TRUE(base::EnsureDir(paths_.home).ok());
  ASSERT_EQ(::chown(paths_.home.c_str(), 65534, 65534), 0);
  IsRefused("home belongs to another user (uid 65534");
}

}  // namespace
}  // namespace jobman::client
