#include "controller/lease_keeper.hpp"

#include <gtest/gtest.h>

#include "jobman/base/log.hpp"
#include "tests/support/fake_clock.hpp"
#include "tests/support/memory_store.hpp"
#include "tests/support/temp_dir.hpp"

namespace jobman::controller {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

constexpr base::Duration kLease = milliseconds{90};

/// Counts calls; its disk may be full.
class CountingStore final : public test::MemoryPorts {
 public:
  using MemoryPorts::MemoryPorts;
  base::Task<base::Result<std::optional<ports::Lease>>> TakeLease(std::string holder,
                                                                  base::TimePoint now,
                                                                  base::Duration time) override {
    ++asked;
    if (full) co_return base::Error{.reason = base::Reason::kDiskFull};
    co_return co_await MemoryPorts::TakeLease(holder, now, time);
  }
  int asked = 0;
  bool full = false;
};

class LeaseKeeperTest : public testing::Test {
 protected:
  void Take() { ASSERT_TRUE(base::RunTask(loop_, keeper_.Take("me")).ok()); }
  bool MayAct() { return base::RunTask(loop_, keeper_.MayAct()); }
  /// Time passes while the loop does not run: the process was suspended.
  void Sleep(base::Duration duration) { clock_.Advance(duration); }
  void AnotherTakesOver() {
    ASSERT_TRUE(memory_.TakeLease("another", clock_.Now(), hours{1}).value());
  }
  void Live(base::Duration duration) {
    for (base::Duration lived{0}; lived < duration; lived += milliseconds{5}) {
      loop_.restart();
      loop_.run_for(milliseconds{5});
      clock_.Advance(milliseconds{5});
    }
  }

  asio::io_context loop_;
  test::FakeClock clock_;
  test::MemoryStore memory_;
  CountingStore store_{memory_};
  int lost_ = 0;
  LeaseKeeper keeper_{loop_, store_, clock_, kLease, [this] { ++lost_; }};
};

TEST_F(LeaseKeeperTest, TheStoreIsNotAskedWhileTheLeaseLasts) {
  Take();
  EXPECT_EQ(keeper_.token(), 1);
  Sleep(kLease - milliseconds{1});
  EXPECT_TRUE(keeper_.Holds());
  EXPECT_TRUE(MayAct());
  EXPECT_EQ(store_.asked, 1);
}

TEST_F(LeaseKeeperTest, ItIsRenewedInTime) {
  Take();
  Live(kLease * 3);
  EXPECT_TRUE(keeper_.Holds());
  EXPECT_EQ(memory_.CurrentLease().value()->token, 1);
  EXPECT_GT(memory_.CurrentLease().value()->expires, clock_.Now());
  EXPECT_LT(store_.asked, 12) << "each third of its time";
}

TEST_F(LeaseKeeperTest, TheLeaseOfAnotherControllerIsNotTaken) {
  AnotherTakesOver();
  const auto refused = base::RunTask(loop_, keeper_.Take("me"));
  EXPECT_EQ(refused.error().code, base::Code::kAborted);
  EXPECT_EQ(refused.error().message, "another controller is running: another");
}

TEST_F(LeaseKeeperTest, AControllerElsewhereIsNamedForPeople) {
  const std::string holder = "login-1:boot/pid-[4026531836]:4484:385109:82d0be0c";
  ASSERT_TRUE(memory_.TakeLease(holder, clock_.Now(), hours{1}).value());
  const auto refused = base::RunTask(loop_, keeper_.Take("me"));
  EXPECT_EQ(refused.error().message, "another controller is running: process 4484 on login-1");
}

TEST_F(LeaseKeeperTest, ALeaseOfTenYearsIsTakenAndExplained) {
  const test::TempDir dir;
  base::StartLog(dir / "log", base::LogLevel::kInfo, "");
  ASSERT_TRUE(memory_.TakeLease("another", clock_.Now(), hours{87'600}).value());
  Take();
  EXPECT_EQ(keeper_.token(), 2);
  EXPECT_EQ(memory_.CurrentLease().value()->expires, clock_.Now() + kLease);
  EXPECT_NE(base::ReadFile(dir / "log")->find("the lease of another ends in"), std::string::npos);
  base::StartLog({}, base::LogLevel::kError, "");
}

TEST_F(LeaseKeeperTest, TheStoreIsAskedAfterSuspension) {
  Take();
  Sleep(hours{1});
  EXPECT_FALSE(keeper_.Holds()) << "not without asking";
  EXPECT_TRUE(MayAct());
  EXPECT_TRUE(keeper_.Holds());
}

TEST_F(LeaseKeeperTest, TheLeaseIsLostWhenAnotherTookOverDuringSuspension) {
  Take();
  Sleep(hours{1});
  AnotherTakesOver();
  EXPECT_FALSE(keeper_.Holds());
  EXPECT_FALSE(MayAct());
  EXPECT_FALSE(MayAct());
  EXPECT_TRUE(keeper_.lost());
  EXPECT_EQ(lost_, 1) << "told once";
}

TEST_F(LeaseKeeperTest, TheLossIsNoticedWithoutACall) {
  Take();
  Sleep(hours{1});
  AnotherTakesOver();
  Live(kLease);
  EXPECT_EQ(lost_, 1);
}

TEST_F(LeaseKeeperTest, OnAFullDiskTheLeaseIsOursWhileTheStoreShowsOurToken) {
  Take();
  store_.full = true;
  Sleep(hours{1});
  EXPECT_FALSE(keeper_.Holds());
  EXPECT_TRUE(MayAct());
  EXPECT_TRUE(keeper_.Holds()) << "confirmed right now";
  Sleep(kLease / 3);
  EXPECT_FALSE(keeper_.Holds()) << "that was a while ago";
  AnotherTakesOver();
  EXPECT_FALSE(MayAct());
  EXPECT_EQ(lost_, 1);
}

TEST_F(LeaseKeeperTest, AFullDiskHoldsBackNoOutput) {
  Take();
  store_.full = true;
  bool held = false;  // what was confirmed holds for a moment, which a busy machine may miss
  for (int looks = 0; looks < 50 && !held; ++looks) {
    Live(kLease * 3);
    held = keeper_.Holds();
  }
  EXPECT_TRUE(held);
}

TEST_F(LeaseKeeperTest, AReleasedLeaseIsFree) {
  Take();
  ASSERT_TRUE(base::RunTask(loop_, keeper_.GiveBack()).ok());
  EXPECT_FALSE(memory_.CurrentLease().value());
  Live(kLease);
  EXPECT_FALSE(memory_.CurrentLease().value()) << "and is not renewed";
}

}  // namespace
}  // namespace jobman::controller
