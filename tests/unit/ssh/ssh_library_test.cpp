#include "jobman/ssh/ssh_library.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include "jobman/ssh/host_shell.hpp"

namespace jobman::ssh {
namespace {

TEST(SshLibrary, OpensByTheFirstCall) {
  EXPECT_EQ(LibsshVersion().find("0."), 0U) << LibsshVersion();
  EXPECT_TRUE(OpenSshLibrary().ok());
}

TEST(SshLibrary, ItsOwnCallsFindItsOwnFunctions) {
  ASSERT_TRUE(OpenSshLibrary().ok());
  EXPECT_EQ(dlsym(RTLD_DEFAULT, "ssh_new"), nullptr) << "ours is visible to libraries";
}

}  // namespace
}  // namespace jobman::ssh
