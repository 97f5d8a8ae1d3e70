#include "controller/host_access.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "tests/support/fake_slice_api.hpp"
#include "tests/support/job_builder.hpp"

namespace jobman::controller {
namespace {

using testing::UnorderedElementsAre;

/// A cloud that answers when the test says so.
class SlowCloud final : public test::FakeSliceApi {
 public:
  using FakeSliceApi::FakeSliceApi;
  base::Task<base::Result<std::vector<core::HostKeys>>> GetHostKeys(core::Place,
                                                                    std::string) override {
    ++asked;
    while (held) co_await go.Wait();
    if (error) co_return *error;
    co_return keys;
  }
  base::Task<base::Result<std::map<int, std::string>>> GetVmNames(core::Place,
                                                                  std::string) override {
    ++asked_names;
    co_return names;
  }
  int asked_names = 0;
  std::map<int, std::string> names = {};
  void Answer() {
    held = false;
    go.WakeAll();
  }
  int asked = 0;
  bool held = false;
  std::optional<base::Error> error = {};
  std::vector<core::HostKeys> keys = {};
  base::Waiters go = {};
};

class NotingShell final : public ports::HostShell {
 public:
  base::Task<base::Result<int>> Run(ports::SharedTarget, ports::RemoteCommand, ports::ByteSink,
                                    ports::ByteSink) override {
    co_return 0;
  }
  void Drop(const ports::HostTarget& target) override { dropped.insert(target.identity); }
  std::set<std::string> dropped = {};
};

class HostAccessTest : public testing::Test {
 protected:
  HostAccessTest() {
    ports_.clock = &clock_;
    ports_.shell = &shell_;
    ports_.open_cloud = [this](core::CloudSpec) { return test::OpenAs(cloud_); };
    ports_.ssh_port = [](const core::CloudSpec&) { return 22; };
    core::Job job = test::JobBuilder().Build();
    job.slice = core::Slice{
        .ref = {.name = "train-000042-a1", .nodes = 2},
        .nodes = {{.uid = "u0", .hosts = 2}, {.uid = "u1", .hosts = 2}},
        .hosts = {{"10.0.0.1", ""}, {"10.0.0.2", ""}, {"10.0.0.3", ""}, {"10.0.0.4", ""}}};
    job_ = std::make_shared<const core::Job>(std::move(job));
  }

  using Answered = std::shared_ptr<std::optional<ports::HostTarget>>;
  /// Asks for a host's target; it is set once it is known.
  Answered Ask(int host, const base::CancelScope& scope) {
    auto answered = std::make_shared<std::optional<ports::HostTarget>>();
    const auto task = [](HostAccessTest* self, std::shared_ptr<const core::Job> job, int number,
                         Answered out) -> base::Task<void> {
      const auto target = co_await self->access_.TargetOf(job, number);
      self->handed_out_.push_back(target);
      *out = *target;
    };
    base::Spawn(loop_.get_executor(), scope, task(this, job_, host, answered));
    return answered;
  }
  Answered Ask(int host) { return Ask(host, scope_); }
  void Turn() {
    loop_.restart();
    loop_.poll();
  }

  asio::io_context loop_;
  base::CancelScope scope_;
  test::FakeClock clock_;
  std::shared_ptr<SlowCloud> cloud_ = std::make_shared<SlowCloud>(clock_);
  NotingShell shell_;
  Ports ports_;
  Clouds clouds_{ports_};
  HostAccess access_{ports_, clouds_};
  std::shared_ptr<const core::Job> job_;
  std::vector<ports::SharedTarget> handed_out_;
};

TEST_F(HostAccessTest, AllHostsOfANodeWaitForOneAnswer) {
  cloud_->held = true;
  cloud_->keys = {{.host = 0, .keys = {{"ssh-ed25519", "AAAA0"}}},
                  {.host = 1, .keys = {{"ssh-ed25519", "AAAA1"}}}};
  const auto first = Ask(0), second = Ask(1);
  Turn();
  EXPECT_EQ(cloud_->asked, 1);
  EXPECT_FALSE(*first || *second);
  cloud_->Answer();
  Turn();
  ASSERT_TRUE(*first && *second) << "without waiting";
  EXPECT_EQ(first->value().vouched_keys.at("ssh-ed25519"), "AAAA0");
  EXPECT_EQ(second->value().vouched_keys.at("ssh-ed25519"), "AAAA1");
  EXPECT_EQ(cloud_->asked, 1);
  EXPECT_EQ(first->value().identity, "u0/0");
}

TEST_F(HostAccessTest, CallsOfAHostShareItsTargetWhileItIsTheSame) {
  cloud_->keys = {{.host = 0, .keys = {{"ssh-ed25519", "AAAA0"}}}};
  Ask(0);
  Ask(0);
  core::Job job = *job_;
  job.spec.ssh.user = "other";
  job_ = std::make_shared<const core::Job>(std::move(job));
  Ask(0);
  Ask(0);
  Turn();
  ASSERT_EQ(handed_out_.size(), 4U);
  EXPECT_EQ(&*handed_out_[0], &*handed_out_[1]);
  EXPECT_NE(&*handed_out_[1], &*handed_out_[2]);
  EXPECT_EQ(&*handed_out_[2], &*handed_out_[3]);
  EXPECT_EQ(handed_out_[3]->user, "other");
}

TEST_F(HostAccessTest, AProxyCommandThatNamesTheVmGetsItsName) {
  cloud_->keys = {{.host = 0, .keys = {{"ssh-ed25519", "AAAA0"}}},
                  {.host = 1, .keys = {{"ssh-ed25519", "AAAA1"}}}};
  cloud_->names = {{0, "w0"}};
  const auto plain = Ask(0);
  Turn();
  EXPECT_EQ(plain->value().vm_name, "");
  EXPECT_EQ(cloud_->asked_names, 0) << "nobody wants it";

  core::Job job = *job_;
  job.spec.ssh.proxy_command = "helper %n %p";
  job_ = std::make_shared<const core::Job>(std::move(job));
  const auto first = Ask(0), second = Ask(1);
  Turn();
  ASSERT_TRUE(*first && *second);
  EXPECT_EQ(first->value().vm_name, "w0");
  EXPECT_EQ(first->value().vouched_keys.at("ssh-ed25519"), "AAAA0");
  EXPECT_EQ(second->value().vm_name, "") << "it has not published its name yet";
  EXPECT_EQ(cloud_->asked_names, 1);
  cloud_->names[1] = "w1";
  clock_.Advance(std::chrono::minutes{1});
  const auto again = Ask(1);
  Turn();
  EXPECT_EQ(again->value().vm_name, "w1");
  EXPECT_EQ(cloud_->asked_names, 2);
}

TEST_F(HostAccessTest, AnotherHostAsksWhenTheFirstIsCancelled) {
  cloud_->held = true;
  cloud_->keys = {{.host = 1, .keys = {{"ssh-ed25519", "AAAA1"}}}};
  std::optional<base::CancelScope> gone(std::in_place);
  Ask(0, *gone);
  const auto second = Ask(1);
  Turn();
  gone.reset();
  Turn();
  EXPECT_EQ(cloud_->asked, 2);
  cloud_->Answer();
  Turn();
  EXPECT_TRUE(*second);
}

/// Guest attributes appear some seconds after READY. Several hosts without a key share the tries.
TEST_F(HostAccessTest, HostsWithoutAKeyYetWaitTogether) {
  const auto first = Ask(0), second = Ask(1);
  Turn();
  EXPECT_EQ(cloud_->asked, 1);
  cloud_->keys = {{.host = 0, .keys = {{"ssh-ed25519", "AAAA0"}}},
                  {.host = 1, .keys = {{"ssh-ed25519", "AAAA1"}}}};
  loop_.restart();
  while (!(*first && *second) && loop_.run_one() > 0) {
  }
  EXPECT_EQ(cloud_->asked, 2);
}

TEST_F(HostAccessTest, WhileTheCloudIsSilentOnlyPinnedKeysAreTrusted) {
  cloud_->error = base::Error{.code = base::Code::kUnavailable, .message = "down"};
  const auto first = Ask(0);
  Turn();
  ASSERT_TRUE(*first);
  EXPECT_FALSE(first->value().first_sight);
  EXPECT_TRUE(first->value().vouched_keys.empty());
}

TEST_F(HostAccessTest, ARefusalIsToldAndFirstUseFollows) {
  cloud_->error = base::Error{.code = base::Code::kPermissionDenied, .message = "no IAM role"};
  const auto first = Ask(0);
  loop_.restart();
  while (!*first && loop_.run_one() > 0) {
  }
  EXPECT_TRUE(first->value().first_sight);
  EXPECT_FALSE(first->value().strict);
  EXPECT_EQ(first->value().unvouched, "the cloud refused to tell it: no IAM role");
}

TEST_F(HostAccessTest, AStrictJobWaitsLongerForKeys) {
  core::Job job = *job_;
  job.spec.ssh.host_keys = core::HostKeyRule::kStrict;
  job_ = std::make_shared<const core::Job>(std::move(job));
  const auto first = Ask(0);
  loop_.restart();
  while (cloud_->asked < 7 && loop_.run_one() > 0) {
  }
  EXPECT_FALSE(*first) << "first use would have begun";
  cloud_->keys = {{.host = 0, .keys = {{"ssh-ed25519", "AAAA0"}}}};
  while (!*first && loop_.run_one() > 0) {
  }
  EXPECT_TRUE(first->value().strict);
  EXPECT_EQ(first->value().vouched_keys.at("ssh-ed25519"), "AAAA0");
}

TEST_F(HostAccessTest, LostNodesAreForgottenAndTheirConnectionsClosed) {
  cloud_->keys = {{.host = 0, .keys = {{"ssh-ed25519", "AAAA0"}}},
                  {.host = 1, .keys = {{"ssh-ed25519", "AAAA1"}}}};
  for (int host = 0; host < 4; ++host) Ask(host);
  Turn();
  EXPECT_EQ(cloud_->asked, 2);
  access_.ForgetLostNodes(*job_);
  EXPECT_TRUE(shell_.dropped.empty()) << "it holds them";
  core::Job moved = *job_;
  moved.slice->nodes[1].uid = "u2";
  access_.ForgetLostNodes(moved);
  EXPECT_THAT(shell_.dropped, UnorderedElementsAre("u1/0", "u1/1"));
  moved.slice.reset();
  access_.ForgetLostNodes(moved);
  EXPECT_THAT(shell_.dropped, UnorderedElementsAre("u0/0", "u0/1", "u1/0", "u1/1"));
  Ask(0);
  Turn();
  EXPECT_EQ(cloud_->asked, 3) << "its keys were forgotten";
}

TEST_F(HostAccessTest, AHostOfALostNodeIsLetGoAlsoWhileItsKeyIsAwaited) {
  cloud_->held = true;
  Ask(0);
  Turn();
  core::Job gone = *job_;
  gone.slice.reset();
  access_.ForgetLostNodes(gone);
  EXPECT_THAT(shell_.dropped, UnorderedElementsAre("u0/0"));
}

}  // namespace
}  // namespace jobman::controller
