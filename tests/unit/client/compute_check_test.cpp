// What a project's metadata and quotas mean for a job that is to be created.
#include "jobman/client/compute_check.hpp"

#include <gmock/gmock.h>

#include "jobman/client/create_jobs.hpp"
#include "jobman/client/revise_job.hpp"
#include "tests/unit/client/client_world.hpp"
#include "tests/unit/client/nudge_listener.hpp"

namespace jobman::client {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

/// A project as the test wrote it down; it counts the questions.
class WrittenProject final : public ports::ProjectApi {
 public:
  using Items = std::map<std::string, std::string>;
  base::Task<base::Result<Items>> Metadata(std::string project) override {
    asked.push_back(std::move(project));
    co_return metadata;
  }
  base::Task<base::Result<std::vector<ports::RegionQuota>>> Quotas(std::string /*project*/,
                                                                   std::string region) override {
    asked.push_back(std::move(region));
    co_await base::Yield();
    co_return quotas;
  }
  void SetAddresses(double limit, double usage) {
    quotas = std::vector<ports::RegionQuota>{
        {.metric = "CPUS", .limit = 1, .usage = 1},
        {.metric = "IN_USE_ADDRESSES", .limit = limit, .usage = usage}};
  }

  base::Result<Items> metadata = Items{};
  base::Result<std::vector<ports::RegionQuota>> quotas = std::vector<ports::RegionQuota>{};
  std::vector<std::string> asked = {};
};

class ComputeCheckTest : public test::ClientWorld {
 protected:
  ComputeCheckTest() {
    HoldLease();
    loaded_.spec = test::JobBuilder().Build().spec;
    loaded_.spec.tpu.accelerator = "v4-32";  // four hosts
    loaded_.spec.tpu.zone = "us-central2-b";
    loaded_.spec.tpu.project = "lab";
    loaded_.spec.ssh.private_key = (home_ / "key").string();
    loaded_.places["tpu.accelerator"] = {.file = "job.yaml", .line = 2, .column = 3};
    project_->SetAddresses(8, 0);
  }
  client::Context WithProject() {
    client::Context context = Context();
    context.open_projects = [this](const asio::any_io_executor&, const core::CloudSpec&) {
      return opened_;
    };
    return context;
  }
  base::Result<ComputeVerdict> Check() { return Await(CheckCompute(WithProject(), loaded_)); }
  std::vector<std::string> Notes() {
    const auto verdict = Check();
    EXPECT_TRUE(verdict.ok()) << verdict.error().ToString();
    return verdict.ok() ? verdict->notes : std::vector<std::string>{"refused"};
  }
  base::Result<CheckedFile> CheckWhole(Preflight preflight = Preflight::kAll) {
    return Await(CheckFile(WithProject(), loaded_, nullptr, preflight));
  }
  void AskForOsLogin(const std::string& value = "TRUE") {
    project_->metadata = WrittenProject::Items{{"enable-oslogin", value}};
  }

  std::shared_ptr<WrittenProject> project_ = std::make_shared<WrittenProject>();
  base::Result<std::shared_ptr<ports::ProjectApi>> opened_ =
      std::shared_ptr<ports::ProjectApi>(project_);
  config::Loaded loaded_ = {};
};

TEST_F(ComputeCheckTest, EnoughIsSilentAndAskedForOnceInTenMinutes) {
  EXPECT_THAT(Notes(), IsEmpty());
  EXPECT_THAT(Notes(), IsEmpty());
  EXPECT_THAT(project_->asked, UnorderedElementsAre("lab", "us-central2"));
  clock_.Advance(std::chrono::minutes{11});
  EXPECT_THAT(Notes(), IsEmpty());
  EXPECT_EQ(project_->asked.size(), 4U);
}

TEST_F(ComputeCheckTest, ALimitThatNeverSufficesIsRefusedAtTheType) {
  project_->SetAddresses(8, 3);
  loaded_.spec.tpu.num_slices = 4;
  const auto verdict = Check();
  ASSERT_FALSE(verdict.ok());
  EXPECT_EQ(verdict.error().reason, base::Reason::kQuotaZero);
  EXPECT_THAT(verdict.error().message,
              AllOf(HasSubstr("job.yaml:2:3: the slices need 16 external addresses in "
                              "us-central2, and the project's limit IN_USE_ADDRESSES is 8 (3 in "
                              "use)"),
                    HasSubstr("https://console.cloud.google.com/iam-admin/quotas?project=lab"),
                    HasSubstr("a smaller accelerator type")));
}

TEST_F(ComputeCheckTest, AddressesThatAreInUseAreANote) {
  project_->SetAddresses(8, 5);
  EXPECT_THAT(Notes(), ElementsAre("the slice needs 4 external addresses in us-central2, and 5 of "
                                   "the project's 8 are in use: others have to end first"));
  project_->SetAddresses(8, 4);
  clock_.Advance(std::chrono::seconds{11});
  EXPECT_THAT(Notes(), IsEmpty()) << "what speaks against the job is asked for again soon";
}

TEST_F(ComputeCheckTest, OneHostTakesOneAddress) {
  loaded_.spec.tpu.accelerator = "v4-8";
  project_->SetAddresses(0, 0);
  EXPECT_THAT(Check().error().message, HasSubstr("the slice needs 1 external address in "));
}

TEST_F(ComputeCheckTest, WithoutAnAnswerThatCountsNothingIsRefused) {
  project_->SetAddresses(2, 0);
  loaded_.spec.tpu.external_ips = false;
  EXPECT_THAT(Notes(), IsEmpty()) << "no addresses are taken";
  loaded_.spec.tpu.external_ips = true;
  loaded_.spec.tpu.accelerator = "v9x-16";
  EXPECT_THAT(Notes(), IsEmpty()) << "its hosts are not known here";
  loaded_.spec.tpu.accelerator = "v4-32";
  loaded_.spec.tpu.existing = "theirs";
  EXPECT_THAT(Notes(), IsEmpty()) << "it is there";
  loaded_.spec.tpu.existing.clear();
  clock_.Advance(std::chrono::minutes{11});
  project_->quotas = std::vector<ports::RegionQuota>{};
  EXPECT_THAT(Notes(), IsEmpty()) << "the region has no such quota";
}

TEST_F(ComputeCheckTest, WhoMayNotLookIsToldNothing) {
  project_->quotas = base::Error{.code = base::Code::kPermissionDenied, .message = "no access"};
  project_->metadata = base::Error{.code = base::Code::kPermissionDenied, .message = "no access"};
  EXPECT_THAT(Notes(), IsEmpty());
  EXPECT_THAT(Notes(), IsEmpty());
  EXPECT_EQ(project_->asked.size(), 2U) << "that is kept, too";
}

TEST_F(ComputeCheckTest, AServerThatDoesNotAnswerIsANoteAndAskedAgain) {
  project_->quotas = base::Error{.code = base::Code::kUnavailable, .message = "connection refused"};
  EXPECT_THAT(Notes(), ElementsAre("OS Login and the addresses of project lab could not be "
                                   "checked: connection refused"));
  project_->quotas = base::Error{.code = base::Code::kResourceExhausted,
                                 .message = "too many requests",
                                 .reason = base::Reason::kRateLimit};
  EXPECT_THAT(Notes(), ElementsAre("OS Login and the addresses of project lab could not be "
                                   "checked: too many requests"));
  project_->SetAddresses(8, 0);
  EXPECT_THAT(Notes(), IsEmpty());
}

TEST_F(ComputeCheckTest, ACloudWithoutComputeEngineIsNotAsked) {
  opened_ = std::shared_ptr<ports::ProjectApi>();
  EXPECT_THAT(Notes(), IsEmpty());
  opened_ = base::Error{.code = base::Code::kUnauthenticated, .message = "no credentials"};
  EXPECT_THAT(Notes(), IsEmpty());
  opened_ = base::InvalidArgument("JOBMAN_COMPUTE_ENDPOINT: not a URL");
  EXPECT_EQ(Check().error().message, "JOBMAN_COMPUTE_ENDPOINT: not a URL");
}

TEST_F(ComputeCheckTest, OsLoginOfTheProjectIsTurnedOffForTheSlice) {
  for (const char* value : {"TRUE", "true", "Yes", "1"}) {
    clock_.Advance(std::chrono::minutes{11});
    AskForOsLogin(value);
    const auto checked = CheckWhole();
    ASSERT_TRUE(checked.ok()) << checked.error().ToString();
    EXPECT_EQ(checked->loaded.spec.tpu.metadata.at("enable-oslogin"), "FALSE") << value;
    EXPECT_THAT(checked->notes,
                ElementsAre("the project asks for OS Login, under which hosts ignore the job's "
                            "key: the slice gets enable-oslogin: FALSE"));
  }
}

TEST_F(ComputeCheckTest, APreviewAsksNobodyAndSaysWhatMayCome) {
  AskForOsLogin();
  const auto preview = [this](Preflight preflight = Preflight::kAll) {
    auto previewed = Await(PreviewJobs(WithProject(), {loaded_, loaded_}, preflight));
    EXPECT_TRUE(previewed.ok());
    return previewed.ok() ? *previewed : PreviewedJobs();
  };
  EXPECT_THAT(preview().notes, ElementsAre("create first asks whether project lab wants OS Login; "
                                           "if so, the slice gets enable-oslogin: FALSE, too"));
  EXPECT_THAT(preview(Preflight::kNone).notes, IsEmpty());
  EXPECT_THAT(project_->asked, IsEmpty());
  EXPECT_TRUE(Check().ok());
  const PreviewedJobs known = preview();
  EXPECT_THAT(known.notes, ElementsAre(HasSubstr("the slice gets enable-oslogin: FALSE")));
  EXPECT_EQ(known.jobs.at(1).spec.tpu.metadata.at("enable-oslogin"), "FALSE");
  loaded_.spec.tpu.metadata["enable-oslogin"] = "FALSE";
  EXPECT_THAT(preview().notes, IsEmpty()) << "the file says it";
  EXPECT_EQ(project_->asked.size(), 2U) << "of the check alone";
}

TEST_F(ComputeCheckTest, WithoutOsLoginTheMetadataStayAsTheyAre) {
  AskForOsLogin("FALSE");
  EXPECT_THAT(CheckWhole()->loaded.spec.tpu.metadata, IsEmpty());
  AskForOsLogin();
  clock_.Advance(std::chrono::minutes{11});
  loaded_.spec.tpu.metadata["enable-oslogin"] = "false";
  const auto checked = CheckWhole();
  EXPECT_EQ(checked->loaded.spec.tpu.metadata.at("enable-oslogin"), "false") << "the file's word";
  EXPECT_THAT(checked->notes, IsEmpty());
}

TEST_F(ComputeCheckTest, AJobThatAsksForOsLoginItselfIsRefusedUnlessItNamesItsUser) {
  loaded_.spec.tpu.metadata["enable-oslogin"] = "TRUE";
  loaded_.origins = {{.path = "ssh.user", .where = "your login name"}};
  const auto refused = CheckWhole();
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, base::Code::kInvalidArgument);
  EXPECT_THAT(refused.error().message, HasSubstr("tpu.metadata asks for OS Login"));
  EXPECT_THAT(refused.error().hint, HasSubstr("ssh.os_login: true"));
  loaded_.origins = {{.path = "ssh.user", .where = "job.yaml:7"}};
  EXPECT_TRUE(CheckWhole().ok());
}

TEST_F(ComputeCheckTest, WithoutPreflightNobodyIsAsked) {
  AskForOsLogin();
  project_->SetAddresses(1, 0);
  loaded_.spec.tpu.version = "no-such-runtime";
  const auto checked = CheckWhole(Preflight::kNone);
  ASSERT_TRUE(checked.ok()) << checked.error().ToString();
  EXPECT_THAT(checked->notes, IsEmpty());
  EXPECT_THAT(checked->loaded.spec.tpu.metadata, IsEmpty());
  EXPECT_THAT(project_->asked, IsEmpty());
}

/// The slice has what was turned off for it; the file does not say so.
TEST_F(ComputeCheckTest, ARevisedJobKeepsItsSlice) {
  AskForOsLogin();
  test::NudgeListener controller(loop_, Context().paths.ControllerSocket());
  core::Job job = test::WithHosts(test::JobBuilder().Build(), 1);
  job.attempt = 1;
  job.spec = loaded_.spec;
  job.spec.tpu.metadata["enable-oslogin"] = "FALSE";
  job = Put(job);
  EXPECT_FALSE(NeedsAnotherSlice(job, loaded_.spec));
  config::Loaded changed = loaded_;
  changed.spec.command.cmd = "echo changed";
  project_->SetAddresses(1, 1);
  const auto revised = Await(ReviseJob(WithProject(), {.job = job.id, .loaded = changed}));
  ASSERT_TRUE(revised.ok()) << revised.error().ToString();
  EXPECT_THAT(revised->notes, IsEmpty()) << "its addresses are its own";
  const core::Job stored = *store_.Get(job.id);
  const core::JobSpec& spec = stored.revised ? *stored.revised : stored.spec;
  EXPECT_EQ(spec.command.cmd, "echo changed");
  EXPECT_EQ(spec.tpu, job.spec.tpu);
}

}  // namespace
}  // namespace jobman::client
