#include "controller/notice_passer.hpp"

#include "tests/unit/controller/stage_fixture.hpp"

namespace jobman::controller {
namespace {

using testing::ElementsAre;
using testing::EndsWith;

class NoticePasserTest : public StageFixture {
 protected:
  void Pass() {
    if (!passer_) passer_.emplace(*context_, *hosts_);
    passer_->Pass({.imminent = true, .text = "ONGOING"}, "TERM");
    Turn();
  }
  void Start() { hosts_.emplace(Context()); }

  std::optional<StageHosts> hosts_;
  std::optional<NoticePasser> passer_;
};

TEST_F(NoticePasserTest, TellsTheCommandOnce) {
  shell_.Add("notice", {.out = "running\n"});
  Start();
  Pass();
  EXPECT_THAT(shell_.verbs, ElementsAre("notice"));
  EXPECT_FALSE(passer_->Busy(0));
}

TEST_F(NoticePasserTest, ACommandThatHasNotStartedIsToldLater) {
  shell_.Add("notice", {.out = "absent\n"});
  shell_.Add("notice", {.code = Broken()});
  shell_.Add("notice", {.out = "running\n"});
  Start();
  Pass();
  EXPECT_TRUE(passer_->Busy(0));
  ASSERT_TRUE(Until([&] { return !passer_->Busy(0); }));
  EXPECT_EQ(shell_.verbs.size(), 3u);
}

TEST_F(NoticePasserTest, ACommandThatHasEndedIsNotTold) {
  Host().phase = core::HostPhase::kExited;
  Start();
  Pass();
  EXPECT_TRUE(shell_.verbs.empty());
}

TEST_F(NoticePasserTest, ALaterNoticeEndsACallThatHangs) {
  Start();
  Pass();
  shell_.Add("notice", {.out = "running\n"});
  shell_.Add("notice", {.out = "running\n"});
  Pass();
  EXPECT_FALSE(passer_->Busy(0));
  EXPECT_EQ(shell_.verbs.size(), 3u) << "both are passed";
}

TEST_F(NoticePasserTest, ALaterNoticeDoesNotReplaceTheSignalOfAnEarlierOne) {
  shell_.Add("notice", {.code = Broken()});
  shell_.Add("notice", {.out = "running\n"});
  shell_.Add("notice", {.out = "running\n"});
  Start();
  Pass();  // to be tried again
  passer_->Pass({.text = "PENDING"}, "none");
  ASSERT_TRUE(Until([&] { return !passer_->Busy(0); }));
  ASSERT_EQ(shell_.commands.size(), 3u);
  EXPECT_THAT(shell_.commands[1], EndsWith(" TERM"));
  EXPECT_THAT(shell_.commands[2], EndsWith(" none"));
}

TEST_F(NoticePasserTest, AHostThatHangsIsToldAgain) {
  shell_.Add("notice", {.hangs = true});
  shell_.Add("notice", {.out = "running\n"});
  Start();
  Pass();
  ASSERT_TRUE(Until([&] { return !passer_->Busy(0); }));
}

}  // namespace
}  // namespace jobman::controller
