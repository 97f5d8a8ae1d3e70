// What a project's quota of TPUs means for a job that is to be created.
#include "jobman/client/quota_check.hpp"

#include <gmock/gmock.h>

#include "tests/unit/client/client_world.hpp"

namespace jobman::client {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using LimitScope = ports::TpuLimit::Scope;

/// Says what a test has written down, and counts the questions.
class CountedQuota final : public ports::QuotaApi {
 public:
  base::Task<base::Result<std::vector<ports::TpuLimit>>> TpuLimits(
      std::string /*project*/) override {
    ++asked;
    co_return limits;
  }
  base::Result<std::vector<ports::TpuLimit>> limits = std::vector<ports::TpuLimit>{};
  int asked = 0;
};

class QuotaCheckTest : public test::ClientWorld {
 protected:
  QuotaCheckTest() {
    loaded_.spec = test::JobBuilder().Build().spec;  // v4-32 in us-central2-b
    loaded_.spec.tpu.pricing = core::Pricing::kSpot;
    loaded_.places["tpu.accelerator"] = {.file = "job.yaml", .line = 2, .column = 3};
  }
  static ports::TpuLimit Limit(const std::string& metric, const std::string& zone,
                               std::int64_t limit) {
    return {.metric = "tpu.googleapis.com/" + metric,
            .name = "TPU cores",
            .scope = LimitScope::kZone,
            .location = zone,
            .limit = limit};
  }
  /// Limits of spot v4 in the job's zone, and what else there is.
  void Has(std::int64_t spot, const std::vector<ports::TpuLimit>& more = {}) {
    std::vector<ports::TpuLimit> limits = {Limit("tpu-v4s-preemptible", "us-central2-b", spot)};
    limits.insert(limits.end(), more.begin(), more.end());
    quota_->limits = limits;
  }
  void Hold(const std::string& node, const std::string& type) {
    cloud_.AddNode({.id = node, .zone = "us-central2-b", .accelerator = type, .spot = true});
  }
  base::Result<QuotaVerdict> Check() {
    client::Context context = Context();
    context.open_quotas = [this](const asio::any_io_executor&, const core::CloudSpec&) {
      return opened_;
    };
    return Await(CheckTpuQuota(context, loaded_));
  }
  /// The message of the refusal, or the note.
  std::string Told() {
    const auto checked = Check();
    if (checked.ok()) return "note: " + checked->note;
    EXPECT_EQ(checked.error().reason, base::Reason::kQuotaZero);
    return checked.error().message;
  }

  std::shared_ptr<CountedQuota> quota_ = std::make_shared<CountedQuota>();
  base::Result<std::shared_ptr<ports::QuotaApi>> opened_ = std::shared_ptr<ports::QuotaApi>(quota_);
  config::Loaded loaded_ = {};
};

TEST_F(QuotaCheckTest, EnoughIsSilentAndAskedForOnceADay) {
  Has(32);
  EXPECT_EQ(Told(), "note: ");
  EXPECT_EQ(Told(), "note: ");
  EXPECT_EQ(quota_->asked, 1);
  clock_.Advance(std::chrono::hours{25});
  EXPECT_EQ(Told(), "note: ");
  EXPECT_EQ(quota_->asked, 2);
}

TEST_F(QuotaCheckTest, ALimitThatNeverSufficesIsRefusedAtTheType) {
  Has(16);
  EXPECT_THAT(
      Told(),
      AllOf(HasSubstr("job.yaml:2:3: the slice takes 32 TensorCores of v4 spot in "
                      "us-central2-b, and the project's limit "
                      "tpu.googleapis.com/tpu-v4s-preemptible is 16"),
            HasSubstr("set tpu.accelerator: v4-16, or ask for more"),
            HasSubstr("https://console.cloud.google.com/iam-admin/quotas?project=research")));
  loaded_.spec.tpu.num_slices = 2;
  EXPECT_THAT(Told(), AllOf(HasSubstr("the slices take 64 TensorCores"),
                            HasSubstr("set tpu.accelerator: v4-8, or")));
  EXPECT_EQ(cloud_.CountCalls("ListNodes"), 0) << "whoever holds it";
}

TEST_F(QuotaCheckTest, WhatMayCountChipsRefusesOnlyWhatHasTooMany) {
  ports::TpuLimit silent = Limit("tpu-v4s-preemptible", "us-central2-b", 16);
  silent.name.clear();
  quota_->limits = std::vector<ports::TpuLimit>{silent};
  EXPECT_EQ(Told(), "note: ") << "a v4-32 has 16 chips";
  Hold("bobs", "v4-16");
  EXPECT_THAT(Told(),
              HasSubstr("takes 16 chips of v4 spot in us-central2-b, and 8 of the project's "
                        "16 are held, by bobs"));
  silent.limit = 8;
  quota_->limits = std::vector<ports::TpuLimit>{silent};
  EXPECT_THAT(Told(), AllOf(HasSubstr("takes 16 chips of v4 spot"),
                            HasSubstr("set tpu.accelerator: v4-16, or")));
}

TEST_F(QuotaCheckTest, TheCoresOfV3AreCountedWhateverTheNameSays) {
  loaded_.spec.tpu.accelerator = "v3-32";
  ports::TpuLimit silent = Limit("tpu-v3-pod-preemptible", "us-central2-b", 16);
  silent.name.clear();
  quota_->limits = std::vector<ports::TpuLimit>{silent};
  EXPECT_THAT(Told(), HasSubstr("takes 32 TensorCores of v3 pods spot"));
}

TEST_F(QuotaCheckTest, ALimitOfZeroIsRefusedWithWhatFits) {
  Has(0, {Limit("tpu-v4s", "us-central2-b", 64), Limit("tpu-v4s-preemptible", "us-east1-d", 64),
          Limit("tpu-v4s-preemptible", "us-west4-a", 8)});
  EXPECT_THAT(Told(), AllOf(HasSubstr("set tpu.pricing: ondemand, or tpu.zone: us-east1-d, or ask"),
                            Not(HasSubstr("us-west4-a"))));
}

TEST_F(QuotaCheckTest, TheLimitOfTheJobsOwnPricingAndPlaceCounts) {
  Has(0);
  for (const core::Pricing spot : {core::Pricing::kPreemptible, core::Pricing::kFlexStart}) {
    loaded_.spec.tpu.pricing = spot;
    EXPECT_THAT(Told(), HasSubstr("of v4 spot in us-central2-b"));
  }
  loaded_.spec.tpu.pricing = core::Pricing::kOnDemand;
  EXPECT_EQ(Told(), "note: ") << "no limit of it is told";
  loaded_.spec.tpu.pricing = core::Pricing::kReserved;
  Has(64, {Limit("tpu-v4s-reserved", "us-central2-b", 8)});
  clock_.Advance(std::chrono::hours{25});
  EXPECT_THAT(Told(), HasSubstr("of v4 reserved in us-central2-b"));
  loaded_.spec.tpu.pricing = core::Pricing::kSpot;
  ports::TpuLimit region = Limit("tpu-v4s-preemptible", "us-central2", 8);
  region.scope = LimitScope::kRegion;
  Has(64, {region});
  clock_.Advance(std::chrono::hours{25});
  EXPECT_THAT(Told(), HasSubstr("of v4 spot in us-central2, and "));
}

TEST_F(QuotaCheckTest, WhatOthersHoldIsANoteThatNamesThem) {
  Has(40);
  Hold("bobs", "v4-16");
  EXPECT_EQ(Told(),
            "note: the slice takes 32 TensorCores of v4 spot in us-central2-b, and 16 of the "
            "project's 40 are held, by bobs: others have to end first");
  Has(48);
  EXPECT_EQ(Told(), "note: ") << "what speaks against the job is asked for again";
  EXPECT_EQ(cloud_.CountCalls("ListNodes"), 2) << "once for a check";
}

TEST_F(QuotaCheckTest, BeforeAKeptLimitRefusesItIsAskedForAgain) {
  Has(32);
  EXPECT_EQ(Told(), "note: ");
  loaded_.spec.tpu.accelerator = "v4-64";
  Has(64);
  EXPECT_EQ(Told(), "note: ") << "more was granted";
  EXPECT_EQ(quota_->asked, 2);
  loaded_.spec.tpu.accelerator = "v4-128";
  quota_->limits = base::Error{.code = base::Code::kUnavailable, .message = "no network"};
  EXPECT_THAT(Told(), AllOf(HasSubstr("note: the slice takes 128 TensorCores"),
                            HasSubstr("tpu-v4s-preemptible was 64 when it was last told"),
                            HasSubstr("more may have been granted")))
      << "what is kept refuses nothing";
}

TEST_F(QuotaCheckTest, WhatIsNotToldSaysNothing) {
  Has(64);
  ports::TpuLimit silent = Limit("tpu-v4s-preemptible", "us-central2-b", 0);
  silent.limit = std::nullopt;
  quota_->limits = std::vector<ports::TpuLimit>{silent};
  EXPECT_EQ(Told(), "note: ");
  quota_->limits = std::vector<ports::TpuLimit>{Limit("tpu-odd", "us-central2-b", 0)};
  clock_.Advance(std::chrono::hours{25});
  EXPECT_EQ(Told(), "note: ") << "what it counts is not known";
  EXPECT_EQ(cloud_.CountCalls("ListNodes"), 0) << "nothing is to be compared with it";
  silent.unlimited = true;
  quota_->limits = std::vector<ports::TpuLimit>{silent};
  clock_.Advance(std::chrono::hours{25});
  EXPECT_EQ(Told(), "note: ");
}

TEST_F(QuotaCheckTest, WhatIsHeldMayBeUnknown) {
  Has(32);
  cloud_.SetReachable(false);
  EXPECT_EQ(Told(), "note: ");
}

TEST_F(QuotaCheckTest, WhoMayNotLookIsToldNothing) {
  quota_->limits = base::Error{.code = base::Code::kPermissionDenied, .message = "no access"};
  EXPECT_EQ(Told(), "note: ");
  quota_->limits = base::Error{.code = base::Code::kPermissionDenied,
                               .message = "not enabled",
                               .reason = base::Reason::kApiDisabled};
  EXPECT_EQ(Told(), "note: ");
  opened_ = base::Error{.code = base::Code::kUnauthenticated, .message = "no credentials"};
  EXPECT_EQ(Told(), "note: ");
  opened_ = base::InvalidArgument("JOBMAN_QUOTA_ENDPOINT: not a URL");
  EXPECT_EQ(Check().error().message, "JOBMAN_QUOTA_ENDPOINT: not a URL");
}

TEST_F(QuotaCheckTest, AServiceThatDoesNotAnswerIsANote) {
  quota_->limits = base::Error{.code = base::Code::kUnavailable, .message = "connection refused"};
  const auto checked = Check();
  ASSERT_TRUE(checked.ok());
  EXPECT_FALSE(checked->answered);
  EXPECT_EQ(checked->note,
            "the quota of TPUs of project research could not be checked: connection refused");
}

TEST_F(QuotaCheckTest, SomeJobsAreNotAskedAbout) {
  Has(0);
  loaded_.spec.tpu.existing = "theirs";
  EXPECT_EQ(Told(), "note: ");
  loaded_.spec.tpu.existing.clear();
  loaded_.spec.tpu.accelerator = "v9x-16";
  EXPECT_EQ(Told(), "note: ");
  loaded_.spec.tpu.accelerator = "v4-32";
  opened_ = std::shared_ptr<ports::QuotaApi>();
  EXPECT_EQ(Told(), "note: ");
  EXPECT_EQ(quota_->asked, 0);
}

TEST_F(QuotaCheckTest, ElementsOfAnArrayTakeTheSame) {
  core::JobSpec other = loaded_.spec;
  other.name = "other";
  EXPECT_TRUE(AsksForSameQuota(loaded_.spec, other));
  core::JobSpec on_node = other;
  on_node.tpu.existing = "theirs";
  EXPECT_FALSE(AsksForSameQuota(on_node, other)) << "nothing was asked about it";
  other.tpu.zone = "us-east1-d";
  EXPECT_FALSE(AsksForSameQuota(loaded_.spec, other));
}

}  // namespace
}  // namespace jobman::client
