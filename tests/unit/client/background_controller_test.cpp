#include "jobman/client/background_controller.hpp"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include "jobman/base/handle.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/controller/controller.hpp"
#include "tests/support/paused_child.hpp"
#include "tests/unit/client/client_world.hpp"
#include "tests/unit/client/nudge_listener.hpp"

namespace jobman::client {
namespace {

using testing::HasSubstr;

/// A process that could hold the lease: it does nothing.
class Idler : public test::PausedChild {
 public:
  explicit Idler(bool ignores_term = false)
      : PausedChild([](const Say& say) { say(controller::LeaseHolder()); }, ignores_term) {}
  const std::string& holder() const { return said(); }
};

class BackgroundController : public test::ClientWorld {
 protected:
  BackgroundController() {
    start_controller_ = [this](const base::StatePaths&, bool) -> base::Result<pid_t> {
      ++started_;
      HoldLease();
      return kNoChild;
    };
  }
  bool Lives() {
    const auto live = Await(LiveController(store_.stores().leases, clock_.Now()));
    EXPECT_TRUE(live.ok());
    return live.ok() && *live;
  }
  void ReleaseLease() {
    const auto lease = store_.CurrentLease();
    ASSERT_TRUE(lease.ok() && *lease);
    EXPECT_TRUE(store_.DropLease(**lease).ok());
  }
  base::Status Ensure() { return Await(EnsureController(Context())); }

  static constexpr pid_t kNoChild = 1;
  int started_ = 0;
};

TEST_F(BackgroundController, LivesWhileItHoldsALeaseThatHasNotExpired) {
  EXPECT_FALSE(Lives());
  HoldLease();
  EXPECT_TRUE(Lives());
  clock_.Advance(2 * kLeaseTime);
  EXPECT_FALSE(Lives());
}

TEST_F(BackgroundController, IsDeadWhenItsProcessHasEnded) {
  auto parts = base::Split(controller::LeaseHolder(), ':');
  parts[2] = "4194999";  // not a process id: the limit is 2^22 (proc(5), pid_max)
  HoldLease(base::Join(parts, ":"));
  EXPECT_FALSE(Lives());
}

TEST_F(BackgroundController, ALeaseOfTenYearsIsNoSignOfLife) {
  ASSERT_TRUE(store_.TakeLease("elsewhere", clock_.Now(), std::chrono::hours{87'600}).ok());
  EXPECT_FALSE(Lives());
  ASSERT_TRUE(Ensure().ok());
  EXPECT_EQ(started_, 1);
  EXPECT_TRUE(Lives());
}

TEST_F(BackgroundController, IsStartedOnlyWhenNoneLives) {
  ASSERT_TRUE(Ensure().ok());
  EXPECT_EQ(started_, 1);
  ASSERT_TRUE(Ensure().ok());
  EXPECT_EQ(started_, 1);
}

TEST_F(BackgroundController, OneThatIsLateIsNotReplacedForAMinute) {
  const Idler late;
  HoldLease(late.holder());
  clock_.Advance(kLeaseTime + std::chrono::seconds{59});
  EXPECT_FALSE(Lives());
  ASSERT_TRUE(Ensure().ok());
  EXPECT_EQ(started_, 0);
  clock_.Advance(std::chrono::seconds{1});
  ASSERT_TRUE(Ensure().ok());
  EXPECT_EQ(started_, 1);
}

TEST_F(BackgroundController, OneThatIsStoppedIsReplacedAtOnce) {
  const Idler stopped;
  HoldLease(stopped.holder());
  clock_.Advance(kLeaseTime + std::chrono::seconds{1});
  ASSERT_EQ(kill(stopped.pid(), SIGSTOP), 0);
  int state = 0;
  ASSERT_EQ(waitpid(stopped.pid(), &state, WUNTRACED), stopped.pid());
  ASSERT_TRUE(Ensure().ok());
  EXPECT_EQ(started_, 1);
}

TEST_F(BackgroundController, AFailedStartNamesItsLog) {
  start_controller_ = [](const base::StatePaths&, bool) -> base::Result<pid_t> { return kNoChild; };
  const auto ensured = Ensure();
  ASSERT_FALSE(ensured.ok());
  EXPECT_EQ(ensured.error().code, base::Code::kUnavailable);
  EXPECT_EQ(ensured.error().message,
            "the controller did not start; its log is " + Context().paths.ControllerLog().string());
  EXPECT_THAT(ensured.error().hint, HasSubstr("jobman controller run"));
}

TEST_F(BackgroundController, AProgramThatCannotBeStartedIsTheError) {
  start_controller_ = [](const base::StatePaths&, bool) -> base::Result<pid_t> {
    return base::NotFound("no such program", "");
  };
  EXPECT_EQ(Ensure().error().message, "no such program");
}

TEST_F(BackgroundController, ATickIsAskedToReleaseTheLeaseFirst) {
  HoldLease(controller::LeaseHolder(/*passing=*/true));
  test::NudgeListener tick(loop_, Context().paths.ControllerSocket());
  tick.on_nudge = [this] {
    ReleaseLease();
    EXPECT_EQ(started_, 0);
  };
  ASSERT_TRUE(Ensure().ok());
  EXPECT_EQ(started_, 1);
}

TEST_F(BackgroundController, IsWokenWithTheSecrets) {
  test::NudgeListener controller(loop_, Context().paths.ControllerSocket());
  controller::Nudge nudge;
  nudge.secrets[1]["TOKEN"] = "value";
  ASSERT_TRUE(Await(WakeController(Context(), nudge)).ok());
  EXPECT_EQ(started_, 1);
  const auto got = controller.Take();
  ASSERT_EQ(got.size(), 1U);
  EXPECT_EQ(got[0].secrets, nudge.secrets);
}

TEST_F(BackgroundController, ALostNudgeWithoutSecretsIsNoError) {
  EXPECT_TRUE(Await(WakeController(Context())).ok());
}

TEST_F(BackgroundController, StoppingNoneDoesNothing) {
  const auto stopped = StopController(Context());
  ASSERT_TRUE(stopped.ok());
  EXPECT_FALSE(*stopped);
}

TEST_F(BackgroundController, IsStoppedOnceItHasReleasedTheLease) {
  Idler idler;
  HoldLease(idler.holder());
  on_pause_ = [&] {
    if (idler.Ended()) ReleaseLease();
    return true;
  };
  const auto stopped = StopController(Context());
  ASSERT_TRUE(stopped.ok()) << stopped.error().ToString();
  EXPECT_TRUE(*stopped);
}

TEST_F(BackgroundController, OneThatDoesNotStopIsNamed) {
  Idler idler(/*ignores_term=*/true);
  HoldLease(idler.holder());
  on_pause_ = [this] {
    clock_.Advance(std::chrono::seconds{10});
    return true;
  };
  const auto stopped = StopController(Context());
  ASSERT_FALSE(stopped.ok());
  EXPECT_EQ(stopped.error().code, base::Code::kDeadlineExceeded);
  EXPECT_EQ(stopped.error().message,
            "the controller, process " + std::to_string(idler.pid()) + ", does not stop");
}

TEST_F(BackgroundController, OneElsewhereIsNotStoppedFromHere) {
  for (const char* holder : {"elsewhere:boot/pid:1:1:00", "somebody"}) {
    HoldLease(holder);
    const auto stopped = StopController(Context());
    ASSERT_FALSE(stopped.ok());
    EXPECT_EQ(stopped.error().code, base::Code::kFailedPrecondition);
    EXPECT_THAT(stopped.error().message, HasSubstr(holder));
    clock_.Advance(2 * kLeaseTime);
  }
}

}  // namespace
}  // namespace jobman::client
