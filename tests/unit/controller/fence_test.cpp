#include "controller/fence.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/fake_slice_api.hpp"
#include "tests/support/local_shell.hpp"
#include "tests/support/temp_dir.hpp"

namespace jobman::controller {
namespace {

using base::Reason;

base::Task<bool> Answer(bool yes) {
  co_await base::Yield();
  co_return yes;
}

class FenceTest : public testing::Test {
 protected:
  base::Result<int> Run(const std::string& command) {
    auto run = [](ports::HostShell* shell, ports::HostTarget target, ports::RemoteCommand asked,
                  ports::ByteSink out) -> base::Task<base::Result<int>> {
      co_return co_await shell->Run(target, asked, out, out);
    };
    const ports::ByteSink take = [this](std::string_view bytes) -> base::Status {
      said_ += bytes;
      return base::Ok();
    };
    return base::RunTask(loop_, run(&fenced_, {.address = "10.0.0.1"}, {.command = command}, take));
  }

  asio::io_context loop_;
  test::TempDir dir_;
  test::FakeClock clock_;
  /// How many times the lease is still ours.
  int yes_ = 1'000;
  bool holds_ = true;
  LeaseGuard guard_{.may_act = [this] { return Answer(yes_-- > 0); },
                    .holds = [this] { return holds_; }};
  std::shared_ptr<test::FakeSliceApi> api_ = std::make_shared<test::FakeSliceApi>(clock_);
  std::shared_ptr<ports::SliceApi> slices_ = FenceSlices(api_, guard_);
  test::LocalShell shell_{dir_.path()};
  FencedShell fenced_{&shell_, guard_};
  std::string said_;
};

TEST_F(FenceTest, WithoutTheLeaseReadsPassButNothingIsCreatedOrDeleted) {
  const core::SliceRef ref = {.place = {.project = "p", .zone = "us-central2-b"}, .name = "a"};
  yes_ = 0;
  const auto created = base::RunTask(loop_, slices_->Create({.ref = ref}));
  const auto deleted = base::RunTask(loop_, slices_->Delete(ref));
  EXPECT_EQ(created.error().reason, Reason::kLeaseLost);
  EXPECT_EQ(deleted.error().reason, Reason::kLeaseLost);
  const auto changed = base::RunTask(loop_, slices_->ChangeLogins(ref.place, "a", {}));
  EXPECT_EQ(changed.error().reason, Reason::kLeaseLost);
  EXPECT_TRUE(base::RunTask(loop_, slices_->ListNodes(ref.place)).ok());
  EXPECT_EQ(api_->CountCalls("Create") + api_->CountCalls("Delete"), 0);
  EXPECT_EQ(api_->CountCalls("ChangeLogins"), 0);
}

TEST_F(FenceTest, ACommandPassesWithItsOutput) {
  EXPECT_EQ(*Run("echo said; exit 3"), 3);
  EXPECT_EQ(said_, "said\n");
}

TEST_F(FenceTest, TheLeaseIsCheckedBeforeAndAfterConnecting) {
  const auto refused = [this] {
    EXPECT_EQ(Run("touch ~/done").error().reason, Reason::kLeaseLost);
    EXPECT_FALSE(base::FileSize(shell_.HomeOf("10.0.0.1") / "done"));
  };
  yes_ = 0;
  holds_ = false;
  refused();
  EXPECT_EQ(shell_.calls(), 0) << "it was not even connected";
  yes_ = 1;
  refused();
  EXPECT_EQ(shell_.calls(), 1);
  yes_ = 0;
  holds_ = true;
  refused();
  EXPECT_EQ(shell_.calls(), 2) << "by the clock it held when the call began";
}

TEST_F(FenceTest, OutputAfterTheLossOfTheLeaseIsDropped) {
  holds_ = false;
  EXPECT_EQ(Run("echo said").error().reason, Reason::kLeaseLost);
  EXPECT_EQ(said_, "");
  EXPECT_EQ(yes_, 998) << "the lease was checked for the command itself";
}

}  // namespace
}  // namespace jobman::controller
