#include "jobman/client/bucket_check.hpp"

#include <gmock/gmock.h>

#include "tests/unit/client/client_world.hpp"

namespace jobman::client {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Buckets of a map; it keeps what was asked.
class FakeBuckets final : public ports::BucketApi {
 public:
  base::Task<base::Result<std::string>> Location(std::string bucket) override {
    asked.push_back(bucket);
    co_await base::Yield();
    if (broken) co_return *broken;
    const auto found = locations.find(bucket);
    if (found == locations.end()) co_return base::NotFound("no such bucket");
    co_return found->second;
  }

  std::map<std::string, std::string> locations = {};
  std::optional<base::Error> broken = {};
  std::vector<std::string> asked = {};
};

class BucketCheckTest : public test::ClientWorld {
 protected:
  BucketCheckTest() {
    loaded_.spec = test::JobBuilder().Build().spec;
    loaded_.spec.tpu.zone = "us-central2-b";
    loaded_.spec.gcsfuse = {.bucket_name = "data", .mount_path = "/m"};
    loaded_.places["tpu.zone"] = {.file = "job.yaml", .line = 2, .column = 3};
    buckets_->locations = {{"data", "US-CENTRAL2"}, {"far", "US-CENTRAL1"}, {"multi", "US"}};
  }
  base::Result<std::vector<std::string>> Check() {
    client::Context context = Context();
    context.open_buckets = [this](const asio::any_io_executor&, const core::CloudSpec&) {
      return opened_;
    };
    return Await(CheckBuckets(context, loaded_));
  }
  /// Why the job is refused; empty if it is not.
  std::string Refusal() {
    const auto checked = Check();
    return checked.ok() ? "" : checked.error().message;
  }

  std::shared_ptr<FakeBuckets> buckets_ = std::make_shared<FakeBuckets>();
  base::Result<std::shared_ptr<ports::BucketApi>> opened_ =
      std::shared_ptr<ports::BucketApi>(buckets_);
  config::Loaded loaded_ = {};
};

TEST_F(BucketCheckTest, ABucketInTheRegionIsAskedForOnceADay) {
  EXPECT_THAT(*Check(), IsEmpty());
  EXPECT_THAT(*Check(), IsEmpty());
  EXPECT_THAT(buckets_->asked, ElementsAre("data"));
  clock_.Advance(std::chrono::hours{25});
  EXPECT_THAT(*Check(), IsEmpty());
  EXPECT_EQ(buckets_->asked.size(), 2U);
}

TEST_F(BucketCheckTest, ABucketInAnotherRegionIsRefusedWithTheCure) {
  loaded_.spec.gcsfuse.bucket_name = "far";
  const std::string refusal = Refusal();
  EXPECT_THAT(refusal, HasSubstr("job.yaml:2:3: the bucket far is in us-central1, but the slice in "
                                 "us-central2-b"));
  EXPECT_THAT(refusal, HasSubstr("name a bucket in us-central2 (gcsfuse.bucket_name), or set "
                                 "tpu.zone to a zone of us-central1"));
}

TEST_F(BucketCheckTest, ARegionWhoseNameOnlyBeginsAlikeIsAnother) {
  loaded_.spec.tpu.zone = "europe-west10-a";
  buckets_->locations["data"] = "EUROPE-WEST1";
  EXPECT_THAT(Refusal(), HasSubstr("the bucket data is in europe-west1, but"));
}

TEST_F(BucketCheckTest, AMultiRegionIsRefusedThoughItHoldsTheZone) {
  loaded_.spec.gcsfuse.bucket_name = "multi";
  EXPECT_THAT(Refusal(), HasSubstr("the bucket multi is in the multi-region us, not in one region: "
                                   "what hosts in us-central2-b read from it is billed"));
}

TEST_F(BucketCheckTest, AWrongBucketThatWasReplacedIsTaken) {
  loaded_.spec.gcsfuse.bucket_name = "far";
  EXPECT_NE(Refusal(), "");
  buckets_->locations["far"] = "US-CENTRAL2";
  EXPECT_EQ(Refusal(), "");
}

TEST_F(BucketCheckTest, EveryMountsBucketIsLookedAtOnce) {
  loaded_.spec.gcsfuse.extra_mounts = {{.bucket_name = "data", .mount_path = "/n"},
                                       {.bucket_name = "far", .mount_path = "/o"}};
  EXPECT_THAT(Refusal(), HasSubstr("the bucket far is in us-central1"));
  EXPECT_THAT(buckets_->asked, ElementsAre("data", "far"));
}

TEST_F(BucketCheckTest, ABucketThatIsNotThereIsRefused) {
  loaded_.spec.gcsfuse.bucket_name = "lost";
  EXPECT_THAT(Refusal(), HasSubstr("there is no bucket lost"));
  EXPECT_THAT(Refusal(), HasSubstr("gs://lost --location=us-central2"));
}

TEST_F(BucketCheckTest, ABucketThatCannotBeLookedAtIsANote) {
  for (const auto code : {base::Code::kPermissionDenied, base::Code::kUnavailable,
                          base::Code::kUnauthenticated, base::Code::kDeadlineExceeded}) {
    buckets_->broken = base::Error{.code = code, .message = "not now"};
    EXPECT_THAT(*Check(), ElementsAre("whether the bucket data is in the region of us-central2-b "
                                      "could not be checked: not now"));
  }
}

TEST_F(BucketCheckTest, WithoutCredentialsItIsANoteToo) {
  opened_ = base::Error{.code = base::Code::kUnauthenticated, .message = "no credentials"};
  EXPECT_THAT(*Check(), ElementsAre(HasSubstr("could not be checked: no credentials")));
  opened_ = base::InvalidArgument("JOBMAN_STORAGE_ENDPOINT: not a URL");
  EXPECT_EQ(Refusal(), "JOBMAN_STORAGE_ENDPOINT: not a URL");
}

TEST_F(BucketCheckTest, ACloudWithoutBucketsAndAJobWithoutThemAskNothing) {
  opened_ = std::shared_ptr<ports::BucketApi>();
  loaded_.spec.gcsfuse.bucket_name = "far";
  EXPECT_THAT(*Check(), IsEmpty());
  opened_ = base::Internal("opened for a job without buckets");
  loaded_.spec.gcsfuse = {};
  EXPECT_THAT(*Check(), IsEmpty());
  EXPECT_THAT(buckets_->asked, IsEmpty());
}

}  // namespace
}  // namespace jobman::client
