#include "jobman/controller/file_relay.hpp"

#include <gmock/gmock.h>

#include <asio/io_context.hpp>
#include <vector>

#include "jobman/base/task.hpp"

namespace jobman::controller {
namespace {

using Source = FileRelay::Source;
using Turn = FileRelay::Turn;
using testing::ElementsAre;
using testing::SizeIs;

Source KeptBy(int host) {
  return {.host = host, .id = "same", .sha256 = "s", .bytes = 7};
}

class FileRelayTest : public testing::Test {
 protected:
  base::Task<void> Ask(std::size_t host) { turns_[host].emplace(co_await relay_->Next()); }
  /// Hosts 0 to `count` - 1 ask; those that may go on have their turn.
  void HostsAsk(std::size_t count) {
    turns_ = std::vector<std::optional<Turn>>(count);
    for (std::size_t host = 0; host < count; ++host)
      base::Spawn(loop_.get_executor(), scope_, Ask(host));
    GoOn();
  }
  void GoOn() {
    loop_.restart();
    while (loop_.poll_one() > 0) {
    }
  }
  /// Host 0 is sent the archive from here, and keeps it.
  void HostZeroHasIt() {
    HostsAsk(10);
    ASSERT_TRUE(turns_[0] && turns_[0]->keeps());
    turns_[0]->Kept(KeptBy(0));
    GoOn();
  }
  /// Until that host has a turn; for ever if it gets none.
  void WaitFor(std::size_t host) {
    loop_.restart();
    while (!turns_[host]) loop_.run_one();
  }
  std::vector<int> Readers(int of) const {
    std::vector<int> readers;
    for (std::size_t host = 0; host < turns_.size(); ++host) {
      if (turns_[host] && turns_[host]->from() && turns_[host]->from()->host == of)
        readers.push_back(static_cast<int>(host));
    }
    return readers;
  }
  bool GoesAlone(std::size_t host) const {
    return turns_[host] && !turns_[host]->keeps() && !turns_[host]->from();
  }

  std::shared_ptr<FileRelay> relay_ = std::make_shared<FileRelay>();
  std::vector<std::optional<Turn>> turns_;
  asio::io_context loop_;
  base::CancelScope scope_;
};

TEST_F(FileRelayTest, OneHostIsSentTheArchiveAndTheOthersWait) {
  HostsAsk(3);
  ASSERT_TRUE(turns_[0]);
  EXPECT_TRUE(turns_[0]->keeps());
  EXPECT_FALSE(turns_[1]);
  EXPECT_FALSE(turns_[2]);
}

TEST_F(FileRelayTest, FourAtATimeReadFromAHostAndThenGiveItOn) {
  HostZeroHasIt();
  EXPECT_THAT(Readers(0), ElementsAre(1, 2, 3, 4));
  turns_[1]->Kept(KeptBy(1));
  GoOn();
  EXPECT_THAT(Readers(0), SizeIs(1 + 4)) << "one of them has ended";
  EXPECT_THAT(Readers(1), SizeIs(4));
}

TEST_F(FileRelayTest, AnotherHostIsSentItIfTheFirstFails) {
  HostsAsk(3);
  turns_[0].reset();
  GoOn();
  ASSERT_TRUE(turns_[1]);
  EXPECT_TRUE(turns_[1]->keeps());
  EXPECT_FALSE(turns_[2]);
}

TEST_F(FileRelayTest, AHostThatDoesNotGiveItIsAskedNoMore) {
  HostZeroHasIt();
  turns_[1]->Refused();
  GoOn();
  ASSERT_TRUE(turns_[5]);
  EXPECT_TRUE(turns_[5]->keeps()) << "another one is to keep it";
  turns_[5]->Kept(KeptBy(5));
  GoOn();
  EXPECT_THAT(Readers(5), ElementsAre(6, 7, 8, 9));
}

TEST_F(FileRelayTest, AHostThatHasItAlreadyGivesItAtOnce) {
  relay_->Has(KeptBy(9));
  HostsAsk(2);
  EXPECT_THAT(Readers(9), ElementsAre(0, 1));
}

/// Whether a host comes to have it in between or not.
TEST_F(FileRelayTest, HostsThatCannotReachEachOtherAreEachSentItFromHere) {
  HostZeroHasIt();
  for (std::size_t host = 1; host <= 4; ++host) turns_[host]->Refused();
  GoOn();
  ASSERT_TRUE(turns_[5]->keeps());
  turns_[5]->Kept(KeptBy(5));
  GoOn();
  turns_[6]->Refused();
  EXPECT_TRUE(GoesAlone(6));
  HostsAsk(2);
  EXPECT_TRUE(GoesAlone(0));
  EXPECT_TRUE(GoesAlone(1));
}

TEST_F(FileRelayTest, OneThatDoesNotGiveItLeavesTheOthersAlone) {
  HostZeroHasIt();
  turns_[1]->Kept(KeptBy(1));
  GoOn();
  turns_[5]->Refused();  // by host 1
  HostsAsk(1);
  EXPECT_THAT(Readers(0), ElementsAre(0)) << "host 0 gives it still";
}

TEST_F(FileRelayTest, HostsThatAreSentItAndDoNotKeepItEndTheRelay) {
  HostsAsk(4);
  turns_[0].reset();
  GoOn();
  ASSERT_TRUE(turns_[1] && turns_[1]->keeps());
  turns_[1].reset();
  GoOn();
  EXPECT_TRUE(GoesAlone(2));
  EXPECT_TRUE(GoesAlone(3));
}

TEST_F(FileRelayTest, AHostThatSaysItAgainHasNoMoreReadersForIt) {
  HostZeroHasIt();
  relay_->Has(KeptBy(0));
  GoOn();
  EXPECT_THAT(Readers(0), ElementsAre(1, 2, 3, 4));
}

TEST_F(FileRelayTest, AHostThatHasItNoMoreIsNotAsked) {
  HostZeroHasIt();
  relay_->Gone(0);
  for (std::size_t host = 1; host <= 4; ++host) turns_[host].reset();
  GoOn();
  ASSERT_TRUE(turns_[5]);
  EXPECT_TRUE(turns_[5]->keeps());
}

TEST_F(FileRelayTest, WhoWaitsForOneThatHasItNoMoreIsSentItAtOnce) {
  HostZeroHasIt();
  EXPECT_FALSE(turns_[5]);
  relay_->Gone(0);
  GoOn();
  ASSERT_TRUE(turns_[5]);
  EXPECT_TRUE(turns_[5]->keeps());
  EXPECT_FALSE(turns_[6]);
}

TEST_F(FileRelayTest, IfTheFirstIsSlowAnotherOneIsSentItToo) {
  relay_ = std::make_shared<FileRelay>(base::Duration{1});
  HostsAsk(2);
  ASSERT_TRUE(turns_[0]);
  EXPECT_TRUE(turns_[0]->keeps());
  WaitFor(1);
  EXPECT_TRUE(turns_[1]->keeps());
}

TEST_F(FileRelayTest, IfThoseWhoHaveItAreBusyOneMoreIsSentIt) {
  relay_ = std::make_shared<FileRelay>(base::Duration{1});
  relay_->Has(KeptBy(9));
  HostsAsk(5);
  EXPECT_THAT(Readers(9), ElementsAre(0, 1, 2, 3));
  WaitFor(4);
  EXPECT_TRUE(turns_[4]->keeps());
}

TEST_F(FileRelayTest, AHostWithTroubleOfItsOwnDoesNotCountAgainstTheGiver) {
  HostZeroHasIt();
  for (std::size_t host = 1; host <= 4; ++host) turns_[host].reset();
  GoOn();
  EXPECT_THAT(Readers(0), ElementsAre(5, 6, 7, 8));
}

}  // namespace
}  // namespace jobman::controller
