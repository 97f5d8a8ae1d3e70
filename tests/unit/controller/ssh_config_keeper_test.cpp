#include "controller/ssh_config_keeper.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <utility>
#include <vector>

#include "jobman/base/files.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/base/waiters.hpp"
#include "jobman/controller/ssh_aliases.hpp"
#include "jobman/controller/times.hpp"
#include "tests/support/fake_slice_api.hpp"
#include "tests/support/memory_store.hpp"
#include "tests/support/sample_job.hpp"
#include "tests/support/temp_dir.hpp"

namespace jobman::controller {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// A cloud that says what its VMs are called when the test says so.
class SilentCloud final : public test::FakeSliceApi {
 public:
  using FakeSliceApi::FakeSliceApi;
  base::Task<base::Result<std::map<int, std::string>>> GetVmNames(core::Place,
                                                                  std::string) override {
    ++asked;
    while (silent) co_await speaks.Wait();
    std::map<int, std::string> names;
    names[0] = "t1v-n-0-w-0";
    names[1] = "t1v-n-0-w-1";
    co_return names;
  }
  void Speak() {
    silent = false;
    speaks.WakeAll();
  }
  int asked = 0;
  bool silent = true;
  base::Waiters speaks = {};
};

/// Keys of the store, which fails as long as the test says so.
class FailingKeys final : public ports::HostKeyStore {
 public:
  explicit FailingKeys(ports::HostKeyStore* inner) : inner_(inner) {}
  base::Task<base::Result<std::optional<std::string>>> PinnedKey(std::string identity) override {
    return inner_->PinnedKey(std::move(identity));
  }
  base::Task<base::Result<std::map<std::string, std::string>>> PinnedKeys(
      std::vector<std::string> identities) override {
    if (!fails) co_return co_await inner_->PinnedKeys(std::move(identities));
    ++refused;
    base::Error busy{.code = base::Code::kUnavailable, .message = "the store is busy"};
    co_return busy;
  }
  base::Task<base::Status> PinKey(std::string identity, std::string key) override {
    return inner_->PinKey(std::move(identity), std::move(key));
  }
  bool fails = true;
  int refused = 0;

 private:
  ports::HostKeyStore* inner_;
};

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

TEST_F(SshConfigKeeperTest, WhileTheStoreFailsTheFilesStayAsTheyAre) {
  Pin("m1/0", "ssh-ed25519 AAAA");
  Pin("m1/1", "ssh-ed25519 BBBB");
  FailingKeys keys(ports_.stores.host_keys);
  ports_.stores.host_keys = &keys;
  keeper_->Start();
  keeper_->Take(Holding(7, "m1"));
  ASSERT_TRUE(Until([&] { return keys.refused > 0; }));
  Settle();
  EXPECT_EQ(Config(), "(none)") << "without its key, the client would believe the first one";
  keys.fails = false;
  ASSERT_TRUE(Until([&] { return Config() != "(none)"; }));
  EXPECT_THAT(Config(), AllOf(HasSubstr("Host jobman-7 "), Not(HasSubstr("accept-new"))));
}

TEST_F(SshConfigKeeperTest, AfterAWritingThatFailedNothingCountsAsWritten) {
  Pin("m1/0", "ssh-ed25519 OLD");
  Pin("m2/0", "ssh-ed25519 NEW");
  keeper_->Start();
  keeper_->Take(Holding(7, "m1"));
  Settle();
  const base::Path file = options_.paths.SshConfig();
  std::filesystem::remove(file);
  std::filesystem::create_directories(file / "in the way");
  keeper_->Take(Holding(7, "m2"));
  Settle();
  EXPECT_EQ(KnownHosts(), "jobman-m2-0 ssh-ed25519 NEW\n") << "which is written first";
  std::filesystem::remove_all(file);
  keeper_->Take(Holding(7, "m1"));
  Settle();
  EXPECT_THAT(Config(), HasSubstr("HostKeyAlias jobman-m1-0\n"));
  EXPECT_EQ(KnownHosts(), "jobman-m1-0 ssh-ed25519 OLD\n");
}

TEST_F(SshConfigKeeperTest, ACloudThatDoesNotNameItsVmsHoldsNoOtherJobUp) {
  const auto cloud = std::make_shared<SilentCloud>(clock_);
  api_ = cloud;
  core::Job named = Holding(7, "m1");
  named.spec.ssh.proxy_command = "connect %n";
  keeper_->Start();
  keeper_->Take(named);
  ASSERT_TRUE(Until([&] { return cloud->asked > 0; }));
  core::Job other = Holding(8, "m2");
  other.name = "eval";
  keeper_->Take(other);
  ASSERT_TRUE(Until([&] { return base::Contains(Config(), "Host jobman-8 "); }));
  EXPECT_THAT(Config(), Not(HasSubstr("Host jobman-7 ")));
  cloud->Speak();
  ASSERT_TRUE(Until([&] {
    clock_.Advance(kCloudSilence);  // it may have been given up once
    return base::Contains(Config(), "Host jobman-7 ");
  }));
  EXPECT_THAT(Config(), HasSubstr("ProxyCommand connect t1v-n-0-w-1\n"));
  Settle();
}

TEST_F(SshConfigKeeperTest, ACloudIsAskedForNamesForALimitedTime) {
  const auto cloud = std::make_shared<SilentCloud>(clock_);
  api_ = cloud;
  core::Job named = Holding(7, "m1");
  named.spec.ssh.proxy_command = "connect %n";
  keeper_->Start();
  keeper_->Take(named);
  ASSERT_TRUE(Until([&] { return cloud->asked > 0; }));
  EXPECT_FALSE(keeper_->Quiet());
  Settle();  // as `tick` waits
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
