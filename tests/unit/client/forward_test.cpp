#include "jobman/client/forward.hpp"

#include <gmock/gmock.h>

#include "tests/support/local_shell.hpp"
#include "tests/unit/client/client_world.hpp"

namespace jobman::client {
namespace {

using testing::HasSubstr;

TEST(ForwardedPorts, AreOneNumberOrTwo) {
  EXPECT_EQ(ParseForwardedPort("6006")->local, 6006);
  EXPECT_EQ(ParseForwardedPort("6006")->remote, 6006);
  EXPECT_EQ(ParseForwardedPort("8080:6006")->local, 8080);
  EXPECT_EQ(ParseForwardedPort("0:6006")->local, 0);
  for (const char* bad : {"", "0", "http", "65536", "-1", "1:", ":1", "8080:0", "1:2:3"})
    EXPECT_EQ(ParseForwardedPort(bad).error().code, base::Code::kInvalidArgument) << bad;
}

class ForwardingTest : public test::ClientWorld {
 protected:
  ForwardingTest() { shell_ = &hosts_; }
  core::JobId JobWithHost() {
    core::Job job = test::JobBuilder().Build();
    job.attempt = 1;
    return Put(test::WithHosts(std::move(job), 1)).id;
  }
  test::LocalShell hosts_{home_.path() / "hosts"};
};

TEST_F(ForwardingTest, APortInUseIsNamedWithACure) {
  const core::JobId job = JobWithHost();
  Forwarding first(Context(), job, 0, {});
  const auto got = first.Listen({{.local = 0, .remote = 6006}});
  ASSERT_TRUE(got.ok()) << got.error().ToString();
  const int port = got->front().local;
  EXPECT_GT(port, 0);
  Forwarding second(Context(), job, 0, {});
  const auto refused = second.Listen({{.local = port, .remote = 6006}});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, base::Code::kAlreadyExists);
  EXPECT_THAT(refused.error().message, HasSubstr("is in use"));
  EXPECT_THAT(refused.error().hint, HasSubstr("0:6006"));
}

TEST_F(ForwardingTest, AHostThatCannotBeReachedIsKnownAtOnce) {
  const core::JobId job = JobWithHost();
  EXPECT_TRUE(Forwarding(Context(), job, 0, {}).Check().ok());
  EXPECT_EQ(Forwarding(Context(), job, 1, {}).Check().error().code, base::Code::kNotFound);
  hosts_.Unplug("h0");
  EXPECT_EQ(Forwarding(Context(), job, 0, {}).Check().error().reason, base::Reason::kHostRefused);
}

}  // namespace
}  // namespace jobman::client
