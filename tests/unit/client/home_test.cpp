#include "jobman/client/context.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <map>
#include <optional>

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

}  // namespace
}  // namespace jobman::client
