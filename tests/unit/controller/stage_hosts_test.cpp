#include "controller/stage_hosts.hpp"

#include "tests/unit/controller/stage_fixture.hpp"

namespace jobman::controller {
namespace {

using core::HostPhase;
using remote::RunStatus;
using testing::HasSubstr;

using StageHostsTest = StageFixture;

TEST_F(StageHostsTest, BeginsWithTheRecordedState) {
  Host() = {.host = 1, .phase = HostPhase::kExited, .exit_code = 7, .settled = true};
  StageHosts hosts(Context());
  EXPECT_EQ(hosts[0].number, 1);
  EXPECT_TRUE(hosts[0].ended && hosts[0].settled);
  EXPECT_EQ(hosts[0].exit_code, 7);
}

TEST_F(StageHostsTest, ReachingAHostIsReportedOncePerConnection) {
  StageHosts hosts(Context());
  hosts.Reached(hosts[0]);
  clock_.Advance(std::chrono::seconds{1});
  hosts.Reached(hosts[0]);
  ASSERT_EQ(reports_.size(), 1u);
  EXPECT_EQ(Last().phase, HostPhase::kRunning);
  EXPECT_EQ(hosts[0].last_news - hosts[0].reached_at, std::chrono::seconds{1});
  hosts[0].reached = false;
  hosts.Reached(hosts[0]);
  EXPECT_EQ(reports_.size(), 2u);
}

TEST_F(StageHostsTest, EachEndOfARunIsReported) {
  StageHosts hosts(Context());
  hosts.Finish(hosts[0], {.kind = RunStatus::Kind::kExited, .exit_code = 9});
  EXPECT_EQ(Last().phase, HostPhase::kExited);
  EXPECT_EQ(Last().exit_code, 9);
  hosts.Finish(hosts[0], {.kind = RunStatus::Kind::kLost, .text = "its launcher was killed"});
  EXPECT_EQ(Last().phase, HostPhase::kLost);
  EXPECT_EQ(Last().error->message, "its launcher was killed");
  EXPECT_FALSE(Last().settled) << "its processes may live on";
  hosts.Finish(hosts[0], {.kind = RunStatus::Kind::kBusy, .text = "process 7 of ann"});
  EXPECT_EQ(Last().error->reason, base::Reason::kChipsBusy);
  EXPECT_THAT(Last().error->hint, HasSubstr("jobman exec 000001 --host 0"));
}

TEST_F(StageHostsTest, ANoticeOfTheMetadataServerIsReportedOnce) {
  const std::string talk = "jobman: running\njobman: notice preemption TRUE\n";
  StageHosts hosts(Context());
  shell_.Add("follow", {.err = talk});
  base::CancelScope scope;
  const auto call = [](StageHosts* all) -> base::Task<void> {
    remote::Call follow = remote::FollowCall("x", 0);
    (void)co_await all->Call(0, std::move(follow), {});
  };
  base::Spawn(loop_.get_executor(), scope, call(&hosts));
  Turn();
  ASSERT_EQ(reports_.size(), 2u) << "the host is reached, and the notice";
  EXPECT_TRUE(Last().notice && Last().notice->imminent);
}

TEST_F(StageHostsTest, AHostThatIsGivenUpIsSettledAndNotReportedAgain) {
  StageHosts hosts(Context());
  hosts.Lose(hosts[0], Broken());
  EXPECT_TRUE(Last().settled);
  hosts.Settle(hosts[0]);
  EXPECT_EQ(reports_.size(), 1u);
}

}  // namespace
}  // namespace jobman::controller
