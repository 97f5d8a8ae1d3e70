// doctor: what each check says, and what it costs when a server hangs.
#include "jobman/client/doctor.hpp"

#include <gmock/gmock.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <asio/ip/tcp.hpp>
#include <fstream>
#include <map>

#include "jobman/base/handle.hpp"
#include "jobman/ssh/keys.hpp"
#include "tests/support/silent_agent.hpp"
#include "tests/support/ssh_agent.hpp"
#include "tests/unit/client/client_world.hpp"

namespace jobman::client {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;

/// Says what a test has written down.
class FakeProjects final : public ports::ProjectApi {
 public:
  using Metadatas = std::map<std::string, std::string>;
  base::Task<base::Result<Metadatas>> Metadata(std::string /*project*/) override {
    co_return metadata;
  }
  base::Task<base::Result<std::vector<ports::RegionQuota>>> Quotas(std::string /*project*/,
                                                                   std::string region) override {
    asked_region = region;
    co_return quotas;
  }

  base::Result<Metadatas> metadata = Metadatas{};
  base::Result<std::vector<ports::RegionQuota>> quotas = std::vector<ports::RegionQuota>{};
  std::string asked_region = {};
};

/// Never tells the names of VMs.
class SilentNames final : public test::FakeSliceApi {
 public:
  using FakeSliceApi::FakeSliceApi;
  base::Task<base::Result<std::map<int, std::string>>> GetVmNames(core::Place,
                                                                  std::string) override {
    co_await base::Sleep(1h);
    co_return base::NotFound("no name");
  }
};

class FakeQuotas final : public ports::QuotaApi {
 public:
  base::Task<base::Result<std::vector<ports::TpuLimit>>> TpuLimits(
      std::string /*project*/) override {
    co_return limits;
  }
  base::Result<std::vector<ports::TpuLimit>> limits = std::vector<ports::TpuLimit>{};
};

base::Task<base::Result<ports::LoginSeen>> GiveLogin(base::Result<ports::LoginSeen> login) {
  co_return login;
}

base::Task<base::Result<base::TimePoint>> GiveTime(base::Result<base::TimePoint> time) {
  co_return time;
}

class DoctorTest : public test::ClientWorld {
 protected:
  DoctorTest() {
    ::unsetenv("SSH_AUTH_SOCK");
    about_.spec = test::JobBuilder().Build().spec;
    about_.spec.ssh.private_key = (home_ / "id").string();
    about_.project_from = "job.yaml:3";
    probes_.log_in = [this](const core::CloudSpec&) { return GiveLogin(login_); };
    probes_.server_time = [this](const core::CloudSpec&) { return GiveTime(server_time_); };
    probes_.open_projects = [this](const asio::any_io_executor&, const core::CloudSpec&)
        -> base::Result<std::shared_ptr<ports::ProjectApi>> { return projects_; };
    probes_.open_quotas = [this](const asio::any_io_executor&, const core::CloudSpec&)
        -> base::Result<std::shared_ptr<ports::QuotaApi>> { return quotas_; };
    probes_.look_at_disk = [this](const base::Path&) { return disk_; };
    probes_.versions = [] {
      return std::vector<std::pair<std::string, std::string>>{{"jobman", "1.0"}};
    };
  }

  std::vector<Finding> Look() {
    told_.clear();
    auto findings = Await(Diagnose(Context(), probes_, about_, [this](const Finding& finding) {
      told_.push_back(finding.check);
    }));
    for (const Finding& finding : findings) ExpectCure(finding);
    return findings;
  }
  /// Every failure, and every warning, says what to do.
  static void ExpectCure(const Finding& finding) {
    const bool needs = finding.result == Verdict::kFailed || finding.result == Verdict::kWarning;
    EXPECT_TRUE(!needs || !finding.cure.empty()) << finding.check << ": " << finding.found;
  }
  Finding Find(const std::string& check) {
    for (Finding& finding : Look())
      if (finding.check == check) return finding;
    ADD_FAILURE() << "there is no check " << check;
    return {};
  }
  /// "ok", "failed", ...
  std::string ResultOf(const std::string& check) {
    return std::string(VerdictName(Find(check).result));
  }

  Examination about_ = {};
  Probes probes_ = {};
  std::shared_ptr<FakeProjects> projects_ = std::make_shared<FakeProjects>();
  std::shared_ptr<FakeQuotas> quotas_ = std::make_shared<FakeQuotas>();
  base::Result<ports::LoginSeen> login_ =
      ports::LoginSeen{.origin = "the token file t", .account = "ada@lab.example"};
  base::Result<base::TimePoint> server_time_ = clock_.Now();
  Disk disk_ = {.type = "ext4"};
  std::vector<std::string> told_ = {};
};

TEST_F(DoctorTest, TellsEachFindingOnceAndInOrder) {
  const auto findings = Look();
  EXPECT_THAT(told_,
              ElementsAre("credentials", "project", "clock", "Cloud TPU API", "zone", "OS Login",
                          "addresses", "boot disks", "quota", "SSH key", "SSH agent", "host",
                          "state folder", "store", "controller", "versions"));
  ASSERT_EQ(findings.size(), told_.size());
  for (const Finding& finding : findings) {
    EXPECT_NE(finding.result, Verdict::kFailed) << finding.check << ": " << finding.found;
    EXPECT_NE(finding.found, "") << finding.check;
  }
}

TEST_F(DoctorTest, CredentialsHaveAnOriginAndAnAccount) {
  EXPECT_EQ(Find("credentials").found, "the token file t, as ada@lab.example");
}

TEST_F(DoctorTest, CredentialsThatOthersMayReadAreOdd) {
  login_->open_file = "/home/ada/t";
  const Finding finding = Find("credentials");
  EXPECT_EQ(finding.result, Verdict::kWarning);
  EXPECT_EQ(finding.found, "the token file t, as ada@lab.example; others may read /home/ada/t");
  EXPECT_EQ(finding.cure, "chmod 600 /home/ada/t");
}

TEST_F(DoctorTest, WithoutCredentialsTheCloudIsNotAsked) {
  base::Error none{.code = base::Code::kUnauthenticated,
                   .message = "no credentials for https://tpu.googleapis.com",
                   .reason = base::Reason::kNoToken,
                   .hint = "log in"};
  login_ = none;
  const Finding finding = Find("credentials");
  EXPECT_EQ(finding.result, Verdict::kFailed);
  EXPECT_EQ(finding.found, none.message);
  EXPECT_EQ(finding.cure, "log in");
  ASSERT_TRUE(finding.failure);
  EXPECT_EQ(finding.failure->reason, base::Reason::kNoToken);
  EXPECT_EQ(Find("Cloud TPU API").found, "there is no access token, see credentials");
  EXPECT_EQ(ResultOf("Cloud TPU API"), "skipped");
  EXPECT_EQ(ResultOf("OS Login"), "skipped");
  EXPECT_EQ(cloud_.CountCalls("ListNodes"), 0);
}

TEST_F(DoctorTest, TheZoneIsOneThatTheProjectMayUse) {
  EXPECT_EQ(Find("zone").found, "us-central2-b, one of 2 zones of research");
  about_.spec.tpu.zone = "us-central2-c";
  const Finding finding = Find("zone");
  EXPECT_EQ(finding.result, Verdict::kFailed);
  EXPECT_EQ(finding.found, "project research has no zone us-central2-c of Cloud TPU");
  EXPECT_THAT(finding.cure, HasSubstr("did you mean us-central2-b?"));
  about_.zone_known = false;
  EXPECT_EQ(Find("zone").found, "research may use 2 zones: europe-west4-a, us-central2-b");
  test::FakeSliceApi::Settings many;
  for (int i = 0; i < 9; ++i) many.zones["moon-north" + std::to_string(i) + "-a"] = {"v4-8"};
  test::FakeSliceApi large(clock_, many);
  client::Context context = Context();
  context.open_cloud = test::Lend(large);
  const auto findings = Await(Diagnose(context, probes_, about_, {}));
  ASSERT_EQ(findings[4].check, "zone");
  EXPECT_EQ(findings[4].found, "research may use 11 zones: jobman zones names them");
}

ports::TpuLimit LimitThere(const std::string& metric, std::int64_t limit) {
  return {.metric = "tpu.googleapis.com/" + metric,
          .name = "TPU cores",
          .scope = ports::TpuLimit::Scope::kZone,
          .location = "us-central2-b",
          .limit = limit};
}

TEST_F(DoctorTest, QuotasAreShownWithWhatIsHeld) {
  about_.spec.tpu.zone = "us-central2-b";
  EXPECT_EQ(ResultOf("quota"), "skipped") << "no limit is told";
  quotas_->limits =
      std::vector<ports::TpuLimit>{LimitThere("tpu-v4s", 32), LimitThere("tpu-v4s-preemptible", 0)};
  cloud_.AddNode({.id = "bobs", .zone = "us-central2-b", .accelerator = "v4-8"});
  EXPECT_EQ(ResultOf("quota"), "ok");
  EXPECT_EQ(Find("quota").found, "us-central2-b: v4 ondemand: 8 of 32 TensorCores; held by bobs");
  about_.has_job = true;
  about_.spec.tpu.accelerator = "v4-64";
  about_.spec.tpu.pricing = core::Pricing::kOnDemand;
  about_.spec.tpu.num_slices = 1;
  EXPECT_EQ(ResultOf("quota"), "failed") << "the job can never have it";
  EXPECT_THAT(Find("quota").found,
              EndsWith("8 of 32 TensorCores; the job's slices take 64 TensorCores"));
  EXPECT_THAT(Find("quota").cure, HasSubstr("set tpu.accelerator: v4-32, or "));
  EXPECT_THAT(Find("quota").cure, HasSubstr("iam-admin/quotas?project=research"));
  about_.spec.tpu.pricing = core::Pricing::kFlexStart;
  EXPECT_EQ(ResultOf("quota"), "failed");
  EXPECT_THAT(Find("quota").found,
              HasSubstr("v4 spot in us-central2-b: 0 of 0 TensorCores; the job's slices take 64"))
      << "it takes the preemptible quota";
}

TEST_F(DoctorTest, WhatMayCountChipsIsShownInChips) {
  about_.spec.tpu.zone = "us-central2-b";
  ports::TpuLimit silent = LimitThere("tpu-v4s", 16);
  silent.name.clear();
  quotas_->limits = std::vector<ports::TpuLimit>{silent};
  cloud_.AddNode({.id = "bobs", .zone = "us-central2-b", .accelerator = "v4-8"});
  about_.has_job = true;
  about_.spec.tpu.accelerator = "v4-32";
  about_.spec.tpu.pricing = core::Pricing::kOnDemand;
  about_.spec.tpu.num_slices = 1;
  EXPECT_EQ(Find("quota").found, "us-central2-b: v4 ondemand: 4 of 16 chips; held by bobs");
  about_.spec.tpu.accelerator = "v4-64";
  EXPECT_EQ(ResultOf("quota"), "failed");
  EXPECT_THAT(Find("quota").found, EndsWith("4 of 16 chips; the job's slices take 32 chips"));
}

TEST_F(DoctorTest, AProjectWithoutQuotaIsWarnedOf) {
  about_.spec.tpu.zone = "us-central2-b";
  quotas_->limits = std::vector<ports::TpuLimit>{LimitThere("tpu-v4s", 0)};
  EXPECT_EQ(ResultOf("quota"), "warning");
  EXPECT_EQ(Find("quota").found, "us-central2-b: every limit of TPUs is 0");
  about_.has_job = true;
  about_.spec.tpu.pricing = core::Pricing::kOnDemand;
  EXPECT_EQ(ResultOf("quota"), "failed") << "the job's own type has none";
  about_.has_job = false;
  base::Error denied{.code = base::Code::kPermissionDenied, .message = "not allowed"};
  quotas_->limits = denied;
  EXPECT_EQ(ResultOf("quota"), "warning");
  EXPECT_THAT(Find("quota").cure, HasSubstr("serviceUsageViewer"));
  quotas_ = nullptr;
  EXPECT_EQ(Find("quota").found, "this cloud has no Service Usage");
}

TEST_F(DoctorTest, AProjectIsNeeded) {
  EXPECT_EQ(Find("project").found, "research, from job.yaml:3");
  about_.spec.tpu.project.clear();
  EXPECT_EQ(ResultOf("project"), "failed");
  EXPECT_THAT(Find("project").cure, HasSubstr("gcloud config set project"));
  EXPECT_EQ(ResultOf("Cloud TPU API"), "skipped");
}

TEST_F(DoctorTest, AClockMayBeAMinuteOff) {
  server_time_ = clock_.Now() + 30s;
  EXPECT_EQ(ResultOf("clock"), "ok");
  server_time_ = clock_.Now() + 2min;
  EXPECT_EQ(ResultOf("clock"), "warning");
  EXPECT_THAT(Find("clock").found, HasSubstr("clock is 2m behind the server's"));
  server_time_ = clock_.Now() - 10min;
  EXPECT_EQ(ResultOf("clock"), "failed");
  EXPECT_THAT(Find("clock").found, HasSubstr("10m ahead of the server's"));
}

TEST_F(DoctorTest, AServerThatCannotBeReachedIsAFailure) {
  server_time_ = base::Error{.code = base::Code::kUnavailable,
                             .message = "tpu.googleapis.com:443: connection refused",
                             .reason = base::Reason::kUnreachable};
  EXPECT_EQ(ResultOf("clock"), "failed");
  EXPECT_THAT(Find("clock").cure, HasSubstr("HTTPS_PROXY"));
}

TEST_F(DoctorTest, TheZoneSaysWhatItHolds) {
  EXPECT_EQ(Find("Cloud TPU API").found,
            "us-central2-b of research: no slices; they may be listed, creating is not tried");
  core::NodeSeen ours{.id = "a", .zone = "us-central2-b", .state = core::NodeState::kReady};
  ours.labels["jobman-store"] = *Await(store_.stores().jobs->StoreId());
  cloud_.AddNode(ours);
  cloud_.AddNode({.id = "b", .zone = "us-central2-b", .state = core::NodeState::kReady});
  EXPECT_EQ(Find("Cloud TPU API").found,
            "us-central2-b of research: 2 slices, 1 of this store; they may be listed, creating is "
            "not tried");
}

TEST_F(DoctorTest, ARefusalOfTheApiHasItsOwnCure) {
  cloud_.AddFault({.call = "ListNodes",
                   .error = {.code = base::Code::kPermissionDenied,
                             .message = "the API is disabled",
                             .reason = base::Reason::kApiDisabled,
                             .hint = "gcloud services enable tpu.googleapis.com"},
                   .times = 1});
  const Finding finding = Find("Cloud TPU API");
  EXPECT_EQ(finding.result, Verdict::kFailed);
  EXPECT_EQ(finding.cure, "gcloud services enable tpu.googleapis.com");
}

TEST_F(DoctorTest, ATokenThatTheApiRefusesIsNotCuredByDoctor) {
  cloud_.AddFault({.call = "ListNodes",
                   .error = {.code = base::Code::kUnauthenticated,
                             .message = "invalid authentication credentials",
                             .hint = "jobman doctor says whose credentials these are"},
                   .times = 1});
  EXPECT_THAT(Find("Cloud TPU API").cure, HasSubstr("gcloud auth application-default login"));
}

TEST_F(DoctorTest, WithoutAZoneTheApiIsNotAsked) {
  about_.zone_known = false;
  EXPECT_THAT(Find("Cloud TPU API").found, HasSubstr("--zone"));
  EXPECT_EQ(ResultOf("addresses"), "skipped");
}

TEST_F(DoctorTest, OsLoginKeepsJobmanOutUnlessItIsTurnedOffOrTheUserIsNamed) {
  EXPECT_EQ(Find("OS Login").found, "off");
  projects_->metadata = FakeProjects::Metadatas{{"block-project-ssh-keys", "TRUE"}};
  EXPECT_EQ(Find("OS Login").found,
            "off; the project's SSH keys are blocked, jobman's are the node's own");
  EXPECT_EQ(ResultOf("OS Login"), "ok");
  projects_->metadata = FakeProjects::Metadatas{{"enable-oslogin", "TRUE"}};
  EXPECT_EQ(ResultOf("OS Login"), "warning") << "create turns it off";
  EXPECT_THAT(Find("OS Login").cure, HasSubstr("ssh.os_login: true"));
  about_.spec.tpu.metadata["enable-oslogin"] = "TRUE";
  EXPECT_EQ(ResultOf("OS Login"), "failed");
  EXPECT_THAT(Find("OS Login").cure, HasSubstr("tpu.metadata: {enable-oslogin: 'FALSE'}"));
  about_.own_user = true;
  EXPECT_EQ(ResultOf("OS Login"), "warning");
  about_.spec.ssh.os_login = true;
  EXPECT_EQ(ResultOf("OS Login"), "ok");
  about_.spec.tpu.metadata["enable-oslogin"] = "FALSE";
  EXPECT_EQ(Find("OS Login").found, "off for this job, by tpu.metadata");
}

TEST_F(DoctorTest, AProjectThatCannotBeLookedAtIsAWarning) {
  projects_->metadata = base::Error{.code = base::Code::kPermissionDenied, .message = "no access"};
  projects_->quotas = base::Error{.code = base::Code::kPermissionDenied, .message = "no access"};
  EXPECT_EQ(Find("OS Login").found, "cannot be looked at: no access");
  EXPECT_EQ(ResultOf("OS Login"), "warning");
  EXPECT_EQ(ResultOf("addresses"), "warning");
}

TEST_F(DoctorTest, AddressesMustSufficeForTheHosts) {
  about_.has_job = true;  // a v4-32: four hosts
  const auto quota = [this](double limit, double usage) {
    projects_->quotas = std::vector<ports::RegionQuota>{
        {.metric = "CPUS", .limit = 1, .usage = 1},
        {.metric = "IN_USE_ADDRESSES", .limit = limit, .usage = usage}};
  };
  quota(8, 4);
  EXPECT_EQ(Find("addresses").found, "us-central2: 4 of 8 external addresses are used");
  EXPECT_EQ(projects_->asked_region, "us-central2");
  EXPECT_EQ(ResultOf("addresses"), "ok");
  quota(8, 5);
  EXPECT_EQ(ResultOf("addresses"), "warning");
  EXPECT_THAT(Find("addresses").found, EndsWith("each host takes one, 4 in all"));
  quota(2, 0);
  EXPECT_EQ(ResultOf("addresses"), "failed");
  EXPECT_THAT(Find("addresses").cure, HasSubstr("tpu.external_ips: false"));
  quota(-1, 7);
  EXPECT_EQ(ResultOf("addresses"), "skipped") << "a negative limit is none";
  about_.spec.tpu.external_ips = false;
  EXPECT_EQ(ResultOf("addresses"), "ok");
}

TEST_F(DoctorTest, BootDisksThatDoNotFitAreAWarning) {
  about_.has_job = true;  // a v4-32: four hosts
  const auto quotas = [this](double ssd, double hyperdisk) {
    projects_->quotas = std::vector<ports::RegionQuota>{
        {.metric = "SSD_TOTAL_GB", .limit = 1000, .usage = ssd},
        {.metric = "HDB_TOTAL_GB", .limit = 1000, .usage = hyperdisk}};
  };
  quotas(600, 1000);
  EXPECT_EQ(Find("boot disks").found, "us-central2: 600 of 1000 GB are used (SSD_TOTAL_GB)");
  EXPECT_EQ(ResultOf("boot disks"), "ok");
  quotas(601, 0);
  EXPECT_EQ(ResultOf("boot disks"), "warning") << "whether they count is not known";
  EXPECT_THAT(Find("boot disks").found, EndsWith("the hosts' boot disks have 400 GB in all"));
  EXPECT_THAT(Find("boot disks").cure, HasSubstr("ask for more (SSD_TOTAL_GB)"));
  about_.spec.tpu.accelerator = "v6e-8";
  EXPECT_THAT(Find("boot disks").found, HasSubstr("HDB_TOTAL_GB"));
  projects_->quotas = std::vector<ports::RegionQuota>{};
  EXPECT_EQ(ResultOf("boot disks"), "skipped");
}

TEST_F(DoctorTest, ACloudWithoutComputeEngineIsSkipped) {
  projects_ = nullptr;
  EXPECT_EQ(ResultOf("OS Login"), "skipped");
  EXPECT_EQ(ResultOf("addresses"), "skipped");
  EXPECT_EQ(ResultOf("boot disks"), "skipped");
}

TEST_F(DoctorTest, OfTheSimulatorTheCloudIsSkipped) {
  about_.spec.cloud.endpoint = "local";
  EXPECT_EQ(Find("credentials").found,
            "the cloud is the simulator, which starts when it is needed");
  for (const char* check : {"credentials", "project", "clock", "Cloud TPU API", "OS Login"})
    EXPECT_EQ(ResultOf(check), "skipped") << check;
  EXPECT_EQ(ResultOf("SSH key"), "ok");
}

TEST_F(DoctorTest, AKeyIsMadeReadOrRefused) {
  EXPECT_THAT(Find("SSH key").found, EndsWith(" will be made when it is needed"));
  ASSERT_TRUE(ssh::EnsureKey(home_ / "id").ok());
  EXPECT_THAT(Find("SSH key").found, EndsWith("/id, ssh-ed25519"));
  std::ofstream(home_ / "id") << "no key";
  const Finding finding = Find("SSH key");
  EXPECT_EQ(finding.result, Verdict::kFailed);
  EXPECT_EQ(finding.failure->reason, base::Reason::kKeyUnreadable);
}

TEST_F(DoctorTest, AnAgentIsAsked) {
  EXPECT_EQ(ResultOf("SSH agent"), "skipped");
  const test::SshAgent agent(home_.path());
  EXPECT_EQ(Find("SSH agent").found, "it answers, with 0 keys");
}

TEST_F(DoctorTest, AnAgentThatHangsIsGivenUp) {
  const test::SilentAgent agent(home_.path());
  about_.spec.ssh.agent_forwarding = true;
  const Finding finding = Find("SSH agent");
  EXPECT_EQ(finding.result, Verdict::kFailed);
  EXPECT_THAT(finding.found, HasSubstr("no answer within 2s"));
}

TEST_F(DoctorTest, AHostOfAJobIsReachedOrNot) {
  EXPECT_EQ(Find("host").found, "no job holds a slice");
  asio::ip::tcp::acceptor server(loop_, {asio::ip::address_v4::loopback(), 0});
  core::Job job = test::WithHosts(test::JobBuilder().Build(), 1);
  job.slice->hosts[0].internal = "127.0.0.1";
  job.slice->hosts[0].external = "127.0.0.1";
  job.spec.ssh.port = server.local_endpoint().port();
  job.attempt = 1;
  Put(job);
  EXPECT_THAT(Find("host").found, EndsWith("host 0 of job train, can be reached"));
  server.close();
  const Finding finding = Find("host");
  EXPECT_EQ(finding.result, Verdict::kFailed);
  EXPECT_THAT(finding.cure, HasSubstr("--network=default"));
}

TEST_F(DoctorTest, AHostIsReachedThroughItsProxyOrNot) {
  core::Job job = test::WithHosts(test::JobBuilder().Build(), 1);
  job.slice->hosts[0].internal = "127.0.0.1";
  job.spec.ssh.address = core::AddressChoice::kInternal;
  job.spec.ssh.proxy_command = "printf 'SSH-2.0-x\\r\\n'";
  job.spec.ssh.user = "ada";
  job.attempt = 1;
  job = Put(job);
  EXPECT_THAT(Find("host").found,
              EndsWith("host 0 of job train, can be reached through its proxy"));
  job.spec.ssh.proxy_command = "false";
  Change(job);
  const Finding finding = Find("host");
  EXPECT_EQ(finding.result, Verdict::kFailed);
  EXPECT_THAT(finding.found, HasSubstr("the proxy command ended before a host answered"));
  EXPECT_THAT(finding.cure, HasSubstr("run it by hand"));
}

TEST_F(DoctorTest, ACloudThatDoesNotNameTheVmIsGivenUp) {
  core::Job job = test::WithHosts(test::JobBuilder().Build(), 1);
  job.slice->hosts[0].internal = "127.0.0.1";
  job.spec.ssh.address = core::AddressChoice::kInternal;
  job.spec.ssh.proxy_command = "echo %n";
  job.spec.ssh.user = "ada";
  job.attempt = 1;
  Put(job);
  SilentNames silent(clock_);
  client::Context context = Context();
  context.open_cloud = test::Lend(silent);
  const auto findings = Await(Diagnose(context, probes_, about_, {}));
  ASSERT_EQ(findings[11].check, "host");
  EXPECT_EQ(findings[11].result, Verdict::kFailed);
  EXPECT_THAT(findings[11].found, HasSubstr("the name of its VM: no answer within 10s"));
  ExpectCure(findings[11]);
}

TEST_F(DoctorTest, TheStateFolderIsShownWithItsDisk) {
  EXPECT_THAT(Find("state folder").found, HasSubstr(", on ext4, "));
  disk_.locks_stay_here = true;
  EXPECT_EQ(ResultOf("state folder"), "warning");
}

TEST_F(DoctorTest, AFolderThatOthersCanWriteIsRefused) {
  std::filesystem::permissions(home_.path(), std::filesystem::perms::all);
  EXPECT_EQ(ResultOf("state folder"), "failed");
  EXPECT_THAT(Find("state folder").cure, HasSubstr("JOBMAN_HOME"));
}

TEST_F(DoctorTest, AStoreThatDoesNotOpenIsNamed) {
  about_.store = base::Error{.code = base::Code::kFailedPrecondition,
                             .message = "the store was written by a newer jobman",
                             .reason = base::Reason::kNewerStore};
  EXPECT_EQ(ResultOf("store"), "failed");
  EXPECT_THAT(Find("store").cure, HasSubstr("JOBMAN_HOME")) << "the error has no hint of its own";
  about_.store = base::Ok();
  EXPECT_EQ(Find("store").found, "it opens, and has 0 jobs");
}

TEST_F(DoctorTest, WithoutStoresTheRestIsLookedAt) {
  client::Context context = Context();
  context.stores = {};
  about_.store = base::NotFound("gone");
  const auto findings = Await(Diagnose(context, probes_, about_, {}));
  ASSERT_EQ(findings.size(), 16U);
  EXPECT_EQ(findings[0].result, Verdict::kOk);
  EXPECT_EQ(findings[11].result, Verdict::kSkipped) << "host";
  EXPECT_EQ(findings[13].result, Verdict::kFailed) << "store";
  EXPECT_EQ(findings[14].result, Verdict::kSkipped) << "controller";
}

TEST_F(DoctorTest, AControllerIsNamedOrMissed) {
  EXPECT_EQ(ResultOf("controller"), "ok");
  EXPECT_THAT(Find("controller").found, HasSubstr("none runs"));
  Put(test::JobBuilder().Build());
  EXPECT_EQ(Find("controller").cure, "jobman controller start");
  HoldLease();
  EXPECT_THAT(Find("controller").found, HasSubstr("process "));
  EXPECT_EQ(ResultOf("controller"), "ok");
}

TEST_F(DoctorTest, AControllerOfAnotherProgramIsSaidToBeOne) {
  int raw[2] = {};
  ASSERT_EQ(::pipe(raw), 0);
  const base::UniqueFd in(raw[0]);
  base::UniqueFd out(raw[1]);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::dup2(raw[1], STDOUT_FILENO);
    const std::string holder = controller::LeaseHolder();
    if (::write(raw[1], holder.data(), holder.size()) < 0) ::_exit(1);
    // Says one byte more, when it is this other program.
    ::execl("/bin/sh", "sh", "-c", "printf +; exec sleep 60", nullptr);
    ::_exit(1);
  }
  out = {};
  std::string holder;
  char byte = 0;
  while (::read(in.get(), &byte, 1) == 1 && byte != '+') holder += byte;
  HoldLease(holder);
  const Finding finding = Find("controller");
  EXPECT_EQ(finding.result, Verdict::kWarning);
  EXPECT_THAT(finding.found, EndsWith(", of another version"));
  EXPECT_EQ(finding.cure, "jobman controller stop && jobman controller start");
  ::kill(child, SIGKILL);
  EXPECT_EQ(::waitpid(child, nullptr, 0), child);
}

TEST_F(DoctorTest, AControllerWhoseProgramCannotBeSeenIsNotSaidToBeOfThisVersion) {
  HoldLease("elsewhere:boot/pid-[4026531836]:4711:15230:0a1b2c3d");
  EXPECT_EQ(Find("controller").found,
            "process 4711 on elsewhere; whether it is of this version cannot be seen from here");
  EXPECT_EQ(ResultOf("controller"), "ok");
}

TEST_F(DoctorTest, VersionsAreListed) {
  EXPECT_THAT(Find("versions").found, testing::StartsWith("jobman 1.0"));
}

}  // namespace
}  // namespace jobman::client
