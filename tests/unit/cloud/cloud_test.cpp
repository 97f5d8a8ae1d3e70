#include "jobman/cloud/cloud.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/fake_transport.hpp"

namespace jobman::cloud {
namespace {

using base::Code;
using base::Reason;
using test::Loop;
using testing::HasSubstr;

CloudOptions NoEnvironment() {
  CloudOptions options;
  options.env = [](const std::string&) { return std::optional<std::string>(); };
  options.retry.tries = 1;
  return options;
}

TEST(MakeCloud, WorksWithoutCredentialsOnThisMachine) {
  Loop loop;
  core::CloudSpec spec{.endpoint = "http://127.0.0.1:1"};
  auto cloud = MakeCloud(loop.context.get_executor(), spec, NoEnvironment());
  ASSERT_TRUE(cloud.ok()) << cloud.error().ToString();
  const core::Place place{.project = "p", .zone = "z"};
  const auto nodes = loop.Run((*cloud)->slices().ListNodes(place));
  ASSERT_FALSE(nodes.ok());
  EXPECT_EQ(nodes.error().reason, Reason::kUnreachable);
  EXPECT_EQ(loop.Run((*cloud)->catalog().AcceleratorTypes(place)).error().reason,
            Reason::kUnreachable);
}

TEST(MakeCloud, RefusesAnEndpointWithAQuery) {
  Loop loop;
  for (const char* endpoint : {"http://127.0.0.1:1/?x=1", "http://127.0.0.1:1#x"}) {
    const auto cloud =
        MakeCloud(loop.context.get_executor(), {.endpoint = endpoint}, NoEnvironment());
    ASSERT_FALSE(cloud.ok()) << endpoint;
    EXPECT_EQ(cloud.error().code, Code::kInvalidArgument);
  }
}

TEST(MakeCloud, ReportsWhichCredentialsItUses) {
  Loop loop;
  const auto cloud = MakeCloud(loop.context.get_executor(), {}, NoEnvironment());
  ASSERT_FALSE(cloud.ok());
  EXPECT_EQ(cloud.error().code, Code::kUnauthenticated);
  EXPECT_THAT(cloud.error().message, HasSubstr("https://tpu.googleapis.com"));
  EXPECT_THAT(cloud.error().hint, HasSubstr("gcloud auth login"));
}

TEST(MakeCloud, RefusesAnEndpointThatIsNotAUrl) {
  Loop loop;
  const auto cloud =
      MakeCloud(loop.context.get_executor(), {.endpoint = "tpu.googleapis.com"}, NoEnvironment());
  ASSERT_FALSE(cloud.ok());
  EXPECT_EQ(cloud.error().code, Code::kInvalidArgument);
}

}  // namespace
}  // namespace jobman::cloud
