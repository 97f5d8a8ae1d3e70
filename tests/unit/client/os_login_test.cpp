#include "jobman/client/os_login.hpp"

#include <gmock/gmock.h>

#include <map>
#include <optional>

#include "jobman/base/files.hpp"
#include "jobman/client/create_jobs.hpp"
#include "jobman/client/revise_job.hpp"
#include "jobman/ssh/keys.hpp"
#include "tests/unit/client/client_world.hpp"
#include "tests/unit/client/nudge_listener.hpp"

namespace jobman::client {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::SizeIs;

/// The profile of one account; it keeps the keys.
class WrittenProfile final : public ports::LoginApi {
 public:
  base::Task<base::Result<ports::ImportedLogin>> ImportKey(ports::KeyToImport key) override {
    keys.push_back(std::move(key));
    co_await base::Yield();
    co_return login;
  }
  base::Result<ports::ImportedLogin> login =
      ports::ImportedLogin{.account = "bot@lab.example", .user = "sa_117"};
  std::vector<ports::KeyToImport> keys = {};
};

class ProjectWithMetadata final : public ports::ProjectApi {
 public:
  base::Task<base::Result<std::map<std::string, std::string>>> Metadata(
      std::string /*project*/) override {
    if (failure) co_return *failure;
    co_return metadata;
  }
  base::Task<base::Result<std::vector<ports::RegionQuota>>> Quotas(
      std::string /*project*/, std::string /*region*/) override {
    co_return std::vector<ports::RegionQuota>();
  }
  std::map<std::string, std::string> metadata = {};
  std::optional<base::Error> failure = {};
};

class OsLoginTest : public test::ClientWorld {
 protected:
  OsLoginTest() {
    HoldLease();
    loaded_.spec = test::JobBuilder().Build().spec;
    loaded_.spec.ssh.user = "ada";
    loaded_.spec.ssh.os_login = true;
    loaded_.spec.ssh.private_key = (home_ / "key").string();
  }
  base::Result<CheckedFile> Check(const CheckedFile* earlier = nullptr,
                                  Preflight preflight = Preflight::kNone) {
    return Await(CheckFile(WithLogins(), loaded_, earlier, preflight));
  }
  client::Context WithLogins() {
    client::Context context = Context();
    context.open_projects = [this](const asio::any_io_executor&, const core::CloudSpec&) {
      return base::Result<std::shared_ptr<ports::ProjectApi>>(project_);
    };
    context.open_logins = [this](const asio::any_io_executor&, const core::CloudSpec&) {
      return opened_;
    };
    return context;
  }
  /// The job uses a node of the user's, whose metadata say this.
  void UseNode(std::optional<bool> os_login) {
    loaded_.spec.ssh.os_login = false;
    loaded_.spec.tpu.existing = "theirs";
    cloud_.AddNode({.id = "theirs",
                    .zone = "us-central2-b",
                    .state = core::NodeState::kReady,
                    .os_login = os_login});
  }
  std::shared_ptr<WrittenProfile> profile_ = std::make_shared<WrittenProfile>();
  base::Result<std::shared_ptr<ports::LoginApi>> opened_ =
      std::shared_ptr<ports::LoginApi>(profile_);
  std::shared_ptr<ProjectWithMetadata> project_ = std::make_shared<ProjectWithMetadata>();
  config::Loaded loaded_ = {};
};

TEST_F(OsLoginTest, TheJobLogsInWithTheNameOfTheProfile) {
  const auto checked = Check();
  ASSERT_TRUE(checked.ok()) << checked.error().ToString();
  EXPECT_EQ(checked->loaded.spec.ssh.user, "sa_117");
  EXPECT_THAT(checked->notes, Contains(HasSubstr("login profile of bot@lab.example")));
  ASSERT_THAT(profile_->keys, SizeIs(1));
  EXPECT_EQ(profile_->keys[0].line, *ssh::PublicKeyLine(home_ / "key"));
  EXPECT_EQ(profile_->keys[0].project, "research");
  EXPECT_EQ(profile_->keys[0].expires, clock_.Now() + kImportedKeyLives);
}

TEST_F(OsLoginTest, OfJobsThatAreCreatedTogetherTheKeyIsImportedOnce) {
  const auto first = Check();
  const auto second = Check(&*first);
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(second->loaded.spec.ssh.user, "sa_117");
  EXPECT_THAT(profile_->keys, SizeIs(1));
}

TEST_F(OsLoginTest, OtherJobsImportNothing) {
  loaded_.spec.ssh.os_login = false;
  EXPECT_EQ(Check()->loaded.spec.ssh.user, "ada");
  EXPECT_THAT(profile_->keys, SizeIs(0));
}

TEST_F(OsLoginTest, OnANodeOfTheUsersTheJobFollowsTheNode) {
  UseNode(true);
  const auto checked = Check(nullptr, Preflight::kAll);
  ASSERT_TRUE(checked.ok()) << checked.error().ToString();
  EXPECT_EQ(checked->loaded.spec.ssh.user, "sa_117");
  EXPECT_TRUE(checked->loaded.spec.ssh.os_login);
  EXPECT_THAT(checked->notes,
              Contains(HasSubstr("node theirs asks for OS Login, by its own metadata")));
  EXPECT_THAT(profile_->keys, SizeIs(1));
}

TEST_F(OsLoginTest, OfTheSameNodeTheNextJobIsToldNothingAndAsksNobody) {
  UseNode(true);
  const auto first = Check(nullptr, Preflight::kAll);
  ASSERT_TRUE(first.ok()) << first.error().ToString();
  const auto asked = cloud_.CountCalls("GetNode");
  const auto second = Check(&*first, Preflight::kAll);
  ASSERT_TRUE(second.ok()) << second.error().ToString();
  EXPECT_EQ(second->loaded.spec.ssh.user, "sa_117");
  EXPECT_EQ(cloud_.CountCalls("GetNode"), asked);
  EXPECT_THAT(profile_->keys, SizeIs(1));
}

TEST_F(OsLoginTest, WhatAnEarlierFileSaysIsNotWhatTheNodeSays) {
  UseNode(true);
  loaded_.origins = {{.path = "ssh.user", .where = "job.yaml:3"}};
  const auto bobs = Check(nullptr, Preflight::kAll);
  ASSERT_TRUE(bobs.ok()) << bobs.error().ToString();
  loaded_.origins.clear();
  const auto follows = Check(&*bobs, Preflight::kAll);
  ASSERT_TRUE(follows.ok()) << follows.error().ToString();
  EXPECT_TRUE(follows->loaded.spec.ssh.os_login) << "nobody had asked the node";
  EXPECT_THAT(follows->notes, Contains(HasSubstr("node theirs asks for OS Login")));
}

TEST_F(OsLoginTest, AnEarlierFilesWishIsNotTheNextOnes) {
  UseNode(false);
  loaded_.spec.ssh.os_login = true;
  const auto wishes = Check(nullptr, Preflight::kAll);
  ASSERT_TRUE(wishes.ok()) << wishes.error().ToString();
  loaded_.spec.ssh.os_login = false;
  const auto next = Check(&*wishes, Preflight::kAll);
  ASSERT_TRUE(next.ok()) << next.error().ToString();
  EXPECT_EQ(next->loaded.spec.ssh.user, "ada");
}

TEST_F(OsLoginTest, WhatTheNodeAnsweredIsKeptPastAFileThatDoesNotFollow) {
  UseNode(true);
  const auto first = Check(nullptr, Preflight::kAll);
  ASSERT_TRUE(first.ok()) << first.error().ToString();
  loaded_.origins = {{.path = "ssh.user", .where = "job.yaml:3"}};
  const auto bobs = Check(&*first, Preflight::kAll);
  ASSERT_TRUE(bobs.ok()) << bobs.error().ToString();
  EXPECT_FALSE(bobs->loaded.spec.ssh.os_login);
  loaded_.origins.clear();
  const auto third = Check(&*bobs, Preflight::kAll);
  ASSERT_TRUE(third.ok()) << third.error().ToString();
  EXPECT_EQ(third->loaded.spec.ssh.user, "sa_117");
  EXPECT_EQ(cloud_.CountCalls("GetNode"), 1);
}

TEST_F(OsLoginTest, ANodeThatDidNotAnswerIsAskedForTheNextFile) {
  UseNode(true);
  cloud_.AddFault({.call = "GetNode", .error = {.code = base::Code::kUnavailable}});
  const auto first = Check(nullptr, Preflight::kAll);
  ASSERT_TRUE(first.ok()) << first.error().ToString();
  EXPECT_FALSE(first->loaded.spec.ssh.os_login);
  EXPECT_TRUE(Check(&*first, Preflight::kAll)->loaded.spec.ssh.os_login);
}

TEST_F(OsLoginTest, ANodeThatTakesTooLongIsNotAskedForTheNextFile) {
  UseNode(true);
  cloud_.AddFault({.call = "GetNode", .error = {.code = base::Code::kDeadlineExceeded}});
  const auto first = Check(nullptr, Preflight::kAll);
  ASSERT_TRUE(first.ok()) << first.error().ToString();
  const auto second = Check(&*first, Preflight::kAll);
  ASSERT_TRUE(second.ok()) << second.error().ToString();
  EXPECT_THAT(second->notes, Contains(HasSubstr("the cloud takes too long to answer")));
  EXPECT_EQ(cloud_.CountCalls("GetNode"), 1);
}

TEST_F(OsLoginTest, WhatIsKnownOfTheNodeCountsEvenIfTheCloudIsSlow) {
  UseNode(true);
  auto first = Check(nullptr, Preflight::kAll);
  ASSERT_TRUE(first.ok()) << first.error().ToString();
  first->cloud_is_slow = true;
  const auto second = Check(&*first, Preflight::kAll);
  ASSERT_TRUE(second.ok()) << second.error().ToString();
  EXPECT_EQ(second->loaded.spec.ssh.user, "sa_117");
}

TEST_F(OsLoginTest, ANodesOwnWordCountsMoreThanTheProjects) {
  project_->metadata = {{"enable-oslogin", "TRUE"}};
  UseNode(false);
  EXPECT_EQ(Check(nullptr, Preflight::kAll)->loaded.spec.ssh.user, "ada");
  UseNode(std::nullopt);
  const auto checked = Check(nullptr, Preflight::kAll);
  ASSERT_TRUE(checked.ok()) << checked.error().ToString();
  EXPECT_EQ(checked->loaded.spec.ssh.user, "sa_117");
  EXPECT_THAT(checked->notes, Contains(HasSubstr("by the project's metadata")));
}

TEST_F(OsLoginTest, AUserThatIsChosenStaysAlsoOnANodeWithOsLogin) {
  UseNode(true);
  loaded_.origins = {{.path = "ssh.user", .where = "job.yaml:3"}};
  EXPECT_EQ(Check(nullptr, Preflight::kAll)->loaded.spec.ssh.user, "ada");
  EXPECT_THAT(profile_->keys, SizeIs(0));
}

TEST_F(OsLoginTest, ANodeThatCannotBeAskedIsANote) {
  UseNode(true);
  cloud_.SetReachable(false);
  const auto checked = Check(nullptr, Preflight::kAll);
  ASSERT_TRUE(checked.ok()) << checked.error().ToString();
  EXPECT_EQ(checked->loaded.spec.ssh.user, "ada");
  EXPECT_THAT(checked->notes, Contains(HasSubstr("whether node theirs asks for OS Login could")));
}

TEST_F(OsLoginTest, ANodeThatIsNotThereIsANoteSinceNobodyAsksAgain) {
  loaded_.spec.ssh.os_login = false;
  loaded_.spec.tpu.existing = "later";
  const auto checked = Check(nullptr, Preflight::kAll);
  ASSERT_TRUE(checked.ok()) << checked.error().ToString();
  EXPECT_THAT(checked->notes, Contains(HasSubstr("whether node later asks for OS Login could")));
}

TEST_F(OsLoginTest, AProjectThatDoesNotAnswerForItsNodeIsANote) {
  UseNode(std::nullopt);
  project_->failure = base::Error{.code = base::Code::kUnavailable, .message = "HTTP 503"};
  const auto checked = Check(nullptr, Preflight::kAll);
  ASSERT_TRUE(checked.ok()) << checked.error().ToString();
  EXPECT_THAT(checked->notes, Contains(HasSubstr("HTTP 503; if it does")));
}

TEST_F(OsLoginTest, ARateLimitIsNoAnswerToo) {
  UseNode(true);
  cloud_.AddFault({.call = "GetNode",
                   .error = {.code = base::Code::kResourceExhausted,
                             .message = "too many requests",
                             .reason = base::Reason::kRateLimit}});
  const auto checked = Check(nullptr, Preflight::kAll);
  ASSERT_TRUE(checked.ok()) << checked.error().ToString();
  EXPECT_THAT(checked->notes, Contains(HasSubstr("whether node theirs asks for OS Login could")));
}

TEST_F(OsLoginTest, ARevisedJobKeepsItsLoginIfItsNodeDoesNotAnswer) {
  test::NudgeListener controller(loop_, Context().paths.ControllerSocket());
  UseNode(true);
  core::Job job = test::JobBuilder().Build();
  job.spec = loaded_.spec;
  job.spec.ssh.os_login = true;
  job.spec.ssh.user = "sa_117";
  job = Put(job);
  cloud_.SetReachable(false);
  const auto revised = Await(ReviseJob(WithLogins(), {.job = job.id, .loaded = loaded_}));
  ASSERT_TRUE(revised.ok()) << revised.error().ToString();
  EXPECT_THAT(revised->notes, Contains(HasSubstr("the job keeps it (ssh.os_login: true)")));
  const core::Job stored = *store_.Get(job.id);
  const core::SshSpec& ssh = stored.revised ? stored.revised->ssh : stored.spec.ssh;
  EXPECT_TRUE(ssh.os_login);
  EXPECT_EQ(ssh.user, "sa_117");
  EXPECT_THAT(profile_->keys, SizeIs(0)) << "the profile has it";
}

TEST_F(OsLoginTest, AJobThatIsRevisedForAnotherNodeKeepsNoLogin) {
  test::NudgeListener controller(loop_, Context().paths.ControllerSocket());
  UseNode(true);
  core::Job job = test::JobBuilder().Build();
  job.spec = loaded_.spec;
  job.spec.tpu.existing = "another";
  job.spec.ssh.os_login = true;
  job = Put(job);
  cloud_.SetReachable(false);
  const auto revised = Await(ReviseJob(WithLogins(), {.job = job.id, .loaded = loaded_}));
  ASSERT_TRUE(revised.ok()) << revised.error().ToString();
  EXPECT_THAT(revised->notes, Contains(HasSubstr("if it does, and hosts refuse the login")));
  const core::Job stored = *store_.Get(job.id);
  EXPECT_FALSE((stored.revised ? stored.revised->ssh : stored.spec.ssh).os_login);
}

TEST_F(OsLoginTest, ANameThatAShellCouldMisreadIsRefused) {
  for (const std::string user : {"$(touch mark)", "-oProxyCommand=x", "", "a b"}) {
    profile_->login = ports::ImportedLogin{.account = "bot@lab.example", .user = user};
    const auto refused = Check();
    ASSERT_FALSE(refused.ok()) << user;
    EXPECT_THAT(refused.error().message, HasSubstr("\"" + user + "\", which is not a login name"));
    EXPECT_THAT(refused.error().hint, HasSubstr("gcloud compute os-login describe-profile"));
  }
}

TEST_F(OsLoginTest, ARefusedKeyOfAJobThatFollowsItsNodeSaysWhyThereIsOsLogin) {
  UseNode(true);
  profile_->login = base::Error{.code = base::Code::kPermissionDenied, .message = "not allowed"};
  const auto refused = Check(nullptr, Preflight::kAll);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().ToString(),
              HasSubstr("ssh.os_login: not allowed; node theirs asks for OS Login, by its own"));
}

TEST_F(OsLoginTest, AJobThatCouldNotLogInIsNotCreated) {
  profile_->login = base::Error{.code = base::Code::kPermissionDenied, .message = "not allowed"};
  const auto refused = Check();
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().ToString(), HasSubstr("ssh.os_login: not allowed"));
  opened_ = std::shared_ptr<ports::LoginApi>();
  const auto nowhere = Check();
  ASSERT_FALSE(nowhere.ok());
  EXPECT_THAT(nowhere.error().message, HasSubstr("this cloud has no OS Login"));
}

}  // namespace
}  // namespace jobman::client
