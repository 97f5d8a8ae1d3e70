#include "http/curl_library.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include "jobman/http/curl_transport.hpp"

namespace jobman::http {
namespace {

TEST(CurlLibrary, OpensByTheFirstCall) {
  const std::string version = CurlVersion();
  EXPECT_EQ(version.find_first_not_of("0123456789."), std::string::npos) << version;
  EXPECT_TRUE(OpenCurlLibrary().ok());
}

TEST(CurlLibrary, ItsOwnCallsFindItsOwnFunctions) {
  ASSERT_TRUE(OpenCurlLibrary().ok());
  EXPECT_EQ(dlsym(RTLD_DEFAULT, "curl_easy_init"), nullptr) << "ours is visible to libraries";
}

}  // namespace
}  // namespace jobman::http
