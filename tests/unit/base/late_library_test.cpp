#include "jobman/base/late_library.hpp"

#include <gmock/gmock.h>

namespace jobman::base {
namespace {

using testing::HasSubstr;

TEST(LateLibrary, FindsFunctions) {
  const LateLibrary zlib("libz.so.1", "zlib1g");
  ASSERT_TRUE(zlib.opened().ok()) << zlib.opened().error().ToString();
  EXPECT_NE(zlib.Find("zlibVersion"), nullptr);
}

TEST(LateLibrary, SaysWhatIsMissingAndHowToGetIt) {
  const LateLibrary none("libnone.so.7", "libnone7");
  ASSERT_FALSE(none.opened().ok());
  EXPECT_EQ(none.opened().error().code, Code::kInternal);
  EXPECT_THAT(none.opened().error().message, HasSubstr("libnone.so.7 cannot be used"));
  EXPECT_EQ(none.opened().error().hint, "install it: apt-get install libnone7");
}

TEST(LateLibraryDeathTest, AFunctionThatIsNotThereEndsTheProgram) {
  const LateLibrary zlib("libz.so.1", "zlib1g");
  EXPECT_DEATH(zlib.Find("no_such_function"), "libz.so.1 lacks no_such_function");
}

TEST(LateLibraryDeathTest, ALibraryThatIsNotThereEndsItWithTheCure) {
  const LateLibrary none("libnone.so.7", "libnone7");
  EXPECT_DEATH(none.Find("any"), "libnone.so.7 cannot be used: .*; install it: apt-get install");
}

}  // namespace
}  // namespace jobman::base
