#include "controller/ssh_config_keeper.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobman/base/files.hpp"
#include "jobman/controller/ssh_aliases.hpp"
#include "tests/support/fake_slice_api.hpp"
#include "tests/support/memory_store.hpp"
#include "tests/support/sample_job.hpp"
#include "tests/support/temp_dir.hpp"

namespace jobman::controller {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class SshConfigKeeperTest : public testing::Test {
 protected:
  SshConfigKeeperTest() {
    options_.paths.home = dir_.path();
    options_.ssh_config = true;
    ports_.stores = store_.stores();
    ports_.clock = &clock_;
    ports_.open_cloud = [this](core::CloudSpec) { return test::OpenAs(api_); };
    ports_.ssh_port = [](const core::CloudSpec&) { return 22; };
    keeper_.emplace(loop_, ports_, options_, clouds_, [this] { return may_write_; });
  }

  /// A job that holds two hosts of the machine `uid`.
  static core::Job Holding(std::int64_t id, const std::string& uid) {
    core::Job job = test::SampleJob("train");
    job.id = core::JobId{id};
    job.state = core::Running{};
    job.slice = test::SampleSlice("train-000001-a1");
    job.slice->nodes = {{.uid = uid, .hosts = 2}};
    return job;
  }
  void Pin(const std::string& identity, const std::string& key) {
    ASSERT_TRUE(store_.PinKey(identity, key).ok());
  }
  std::string Config() const {
    return base::ReadFile(options_.paths.SshConfig()).value_or("(none)");
  }
  std::string KnownHosts() const {
    return base::ReadFile(options_.paths.SshKnownHosts()).value_or("(none)");
  }
  template <class Condition>
  bool Until(Condition condition) {
    for (int i = 0; i < 6'000; ++i) {
      if (condition()) return true;
      loop_.restart();
      loop_.run_for(std::chrono::milliseconds{10});
    }
    return false;
  }
  void Settle() {
    ASSERT_TRUE(Until([&] { return keeper_->Quiet(); }));
  }

  test::TempDir dir_;
  test::FakeClock clock_;
  test::StoreInMemory store_;
  std::shared_ptr<test::FakeSliceApi> api_ = std::make_shared<test::FakeSliceApi>(clock_);
  Ports ports_;
  Options options_;
  Clouds clouds_{ports_};
  bool may_write_ = true;
  asio::io_context loop_;
  std::optional<SshConfigKeeper> keeper_;
};

TEST_F(SshConfigKeeperTest, NamesComeWithTheSliceFollowItsMachinesAndGoWithIt) {
  Pin("m1/0", "ssh-ed25519 OLD");
  Pin("m2/0", "ssh-ed25519 NEW");
  keeper_->Start();
  keeper_->Take(Holding(7, "m1"));
  Settle();
  EXPECT_THAT(Config(), AllOf(HasSubstr("Host jobman-7 "), HasSubstr("HostKeyAlias jobman-m1-0\n"),
                              HasSubstr("HostName 203.0.113.7\n")));
  EXPECT_EQ(KnownHosts(), "jobman-m1-0 ssh-ed25519 OLD\n");

  keeper_->Take(Holding(7, "m2"));
  Settle();
  EXPECT_THAT(Config(), AllOf(HasSubstr("HostKeyAlias jobman-m2-0\n"), Not(HasSubstr("m1"))));
  EXPECT_EQ(KnownHosts(), "jobman-m2-0 ssh-ed25519 NEW\n");

  core::Job given_up = Holding(7, "m2");
  given_up.slice->phase = core::SlicePhase::kDeleting;
  keeper_->Take(given_up);
  Settle();
  EXPECT_THAT(Config(), Not(HasSubstr("\nHost ")));
  EXPECT_EQ(KnownHosts(), "");
}

TEST_F(SshConfigKeeperTest, AJobThatIsOverKeepsItsNamesAsLongAsItsSlice) {
  core::Job over = Holding(1, "m1");
  over.state = core::Done{};
  ASSERT_TRUE(store_.Create(over, "", clock_.Now()).ok());
  keeper_->Start();
  Settle();
  EXPECT_THAT(Config(), HasSubstr("Host jobman-1 "));
  keeper_->Forget(core::JobId{1});
  Settle();
  EXPECT_THAT(Config(), Not(HasSubstr("\nHost ")));
}

TEST_F(SshConfigKeeperTest, AKeyThatIsPinnedLaterIsFound) {
  keeper_->Start();
  keeper_->Take(Holding(7, "m1"));
  Settle();
  EXPECT_THAT(Config(), HasSubstr("accept-new"));
  Pin("m1/0", "ssh-ed25519 AAAA");
  Pin("m1/1", "ssh-ed25519 BBBB");
  ASSERT_TRUE(Until([&] { return KnownHosts() != ""; }));
  Settle();
  EXPECT_THAT(Config(), Not(HasSubstr("accept-new")));
}

TEST_F(SshConfigKeeperTest, WhatHasNotChangedIsNotWritten) {
  Pin("m1/0", "ssh-ed25519 AAAA");
  Pin("m1/1", "ssh-ed25519 BBBB");
  keeper_->Start();
  keeper_->Take(Holding(7, "m1"));
  Settle();
  ASSERT_TRUE(base::WriteFileAtomic(options_.paths.SshConfig(), "as it was").ok());
  keeper_->Take(Holding(7, "m1"));
  core::Job stopping = Holding(7, "m1");
  stopping.state = core::Cancelling{};
  keeper_->Take(stopping);
  Settle();
  EXPECT_EQ(Config(), "as it was");
}

TEST_F(SshConfigKeeperTest, WithoutHostsThereIsNoFile) {
  keeper_->Start();
  Settle();
  EXPECT_EQ(Config(), "(none)");
}

TEST_F(SshConfigKeeperTest, OnlyTheHolderOfTheLeaseWrites) {
  may_write_ = false;
  keeper_->Start();
  keeper_->Take(Holding(7, "m1"));
  Settle();
  EXPECT_EQ(Config(), "(none)");
}

TEST_F(SshConfigKeeperTest, KeysThatTheClientSawAreKeptForMachinesThatAreThere) {
  const base::Path seen = options_.paths.SshSeenHosts();
  ASSERT_TRUE(base::WriteFileAtomic(seen, "jobman-m1-1 ssh-ed25519 A\njobman-gone-0 x y\n").ok());
  Pin("m1/0", "ssh-ed25519 AAAA");
  keeper_->Start();
  keeper_->Take(Holding(7, "m1"));
  Settle();
  EXPECT_EQ(base::ReadFile(seen).value_or(""), "jobman-m1-1 ssh-ed25519 A\n");
}

TEST(SshAliases, AnotherPortAndTheWayAreThoseOfTheJob) {
  core::Job job = test::SampleJob("train");
  job.slice = test::SampleSlice("s");
  job.spec.ssh.port = 0;
  job.spec.ssh.proxy_jump = "bastion";
  job.spec.ssh.address = core::AddressChoice::kInternal;
  const auto made = SshJobOf(job, 2222);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->port, 2222);
  EXPECT_EQ(made->proxy_jump, "bastion");
  EXPECT_EQ(made->hosts[1].address, "10.0.0.3");
  EXPECT_EQ(made->hosts[1].identity, "8123456789/1");
  job.slice.reset();
  EXPECT_FALSE(SshJobOf(job, 22));
}

}  // namespace
}  // namespace jobman::controller
