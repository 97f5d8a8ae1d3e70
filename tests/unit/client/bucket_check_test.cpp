#include "jobman/client/bucket_check.hpp"

#include <gmock/gmock.h>

#include <map>
#include <optional>
#include <set>

#include "client/bucket_looks.hpp"

#include "jobman/core/buckets.hpp"
#include "tests/unit/client/client_world.hpp"

namespace jobman::client {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

/// Buckets of a map; it keeps what was asked, and how many questions were open at once.
class FakeBuckets final : public ports::BucketApi {
 public:
  base::Task<base::Result<core::BucketLocation>> Location(std::string bucket) override {
    asked.push_back(bucket);
    most_open = std::max(most_open, ++open);
    co_await base::Yield();
    if (hanging.contains(bucket)) co_await base::Sleep(std::chrono::hours{1});
    --open;
    if (faults > 0) {
      --faults;
      co_return base::Error{.code = base::Code::kUnavailable, .message = "HTTP 503"};
    }
    if (broken) co_return *broken;
    if (const auto why = unseen.find(bucket); why != unseen.end()) co_return why->second;
    const auto found = locations.find(bucket);
    if (found == locations.end()) co_return base::NotFound("no such bucket");
    co_return found->second;
  }

  std::map<std::string, core::BucketLocation> locations = {};
  std::optional<base::Error> broken = {};
  int faults = 0;                                  ///< answers that fail first
  std::map<std::string, base::Error> unseen = {};  ///< of one bucket
  std::set<std::string> hanging = {};              ///< as a server of tokens may
  std::vector<std::string> asked = {};
  int open = 0;
  int most_open = 0;
};

/// As a store on a disk without room.
class FullCache final : public ports::Cache {
 public:
  base::Task<base::Result<std::optional<ports::CachedFact>>> Cached(std::string /*key*/) override {
    co_return std::optional<ports::CachedFact>();
  }
  base::Task<base::Status> PutInCache(std::string /*key*/, ports::CachedFact /*fact*/) override {
    co_return base::Internal("no room");
  }
};

class BucketCheckTest : public test::ClientWorld {
 protected:
  BucketCheckTest() {
    loaded_.spec = test::JobBuilder().Build().spec;
    loaded_.spec.tpu.zone = "us-central2-b";
    loaded_.spec.command.cmd = "true";
    loaded_.spec.gcsfuse = {.bucket_name = "data", .mount_path = "/m"};
    for (const char* bucket : {"data", "far", "multi", "lost"}) {
      loaded_.buckets[bucket] = {.key = "gcsfuse.bucket_name",
                                 .at = {.file = "job.yaml", .line = 2, .column = 3}};
    }
    buckets_->locations = {{"data", {.name = "us-central2"}},
                           {"far", {.name = "europe-west4"}},
                           {"multi", {.name = "us"}}};
  }
  base::Result<std::vector<std::string>> Check() {
    client::Context context = Context();
    if (cache_ != nullptr) context.stores.cache = cache_;
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
  FullCache full_ = {};
  ports::Cache* cache_ = nullptr;  ///< if any, in place of the store's
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

TEST_F(BucketCheckTest, ABucketInAnotherRegionIsRefusedWithThePriceAndTheCure) {
  loaded_.spec.gcsfuse.bucket_name = "far";
  const std::string refusal = Refusal();
  EXPECT_THAT(
      refusal,
      HasSubstr("job.yaml:2:3: the bucket far (gcsfuse.bucket_name) is in europe-west4, but "
                "the slice in us-central2: reading 1 TB there costs about $50, and is slow"));
  EXPECT_THAT(refusal, HasSubstr("use a bucket in us-central2, take a zone of europe-west4, or set "
                                 "allow_cross_region: true"));
}

TEST_F(BucketCheckTest, AMultiRegionIsRefusedThoughItHoldsTheZone) {
  loaded_.spec.gcsfuse.bucket_name = "multi";
  EXPECT_THAT(Refusal(), HasSubstr("the bucket multi (gcsfuse.bucket_name) is in the multi-region "
                                   "us, not in one region: reading 1 TB in us-central2 costs about "
                                   "$20"));
  EXPECT_THAT(Refusal(), HasSubstr("use a bucket in us-central2, or set allow_cross_region: true"));
}

TEST_F(BucketCheckTest, ADualRegionIsTakenIfItHasTheRegion) {
  buckets_->locations["data"] = {.name = "us", .regions = {"us-east1", "us-central2"}};
  EXPECT_THAT(*Check(), IsEmpty());
  EXPECT_THAT(*Check(), IsEmpty());
  EXPECT_THAT(buckets_->asked, ElementsAre("data")) << "the cache has both regions";
  loaded_.spec.tpu.zone = "us-west1-c";
  EXPECT_THAT(Refusal(), HasSubstr("is in us (us-east1 and us-central2), but the slice in "
                                   "us-west1: reading 1 TB there costs about $20"));
}

TEST_F(BucketCheckTest, AWrongBucketThatWasReplacedIsTaken) {
  loaded_.spec.gcsfuse.bucket_name = "far";
  EXPECT_NE(Refusal(), "");
  buckets_->locations["far"] = {.name = "us-central2"};
  EXPECT_EQ(Refusal(), "");
}

TEST_F(BucketCheckTest, EveryTextOfTheJobIsLookedAt) {
  loaded_.spec.gcsfuse.extra_mounts = {{.bucket_name = "data", .mount_path = "/n"}};
  loaded_.spec.setup = {{.run = "gsutil cp gs://far/x ."}};
  loaded_.spec.command.env = {{"OUT", "gs://multi/out"}};
  EXPECT_THAT(Refusal(), AllOf(HasSubstr("the bucket far "), HasSubstr("the bucket multi ")))
      << "all at once";
  EXPECT_THAT(buckets_->asked, ElementsAre("data", "far", "multi"));
}

TEST_F(BucketCheckTest, TheKeyIsNamedAlsoWithoutAPlace) {
  loaded_.buckets.clear();
  loaded_.spec.command.cmd = "ls gs://far";
  EXPECT_THAT(Refusal(), StartsWith("the bucket far (command.cmd) is in europe-west4"));
}

TEST_F(BucketCheckTest, SomeAreAskedForAtATime) {
  for (int i = 0; i < 50; ++i) {
    const std::string name = "data-" + std::to_string(i);
    loaded_.spec.command.cmd += "; ls gs://" + name;
    buckets_->locations[name] = {.name = "us-central2"};
  }
  EXPECT_THAT(*Check(), IsEmpty());
  EXPECT_THAT(buckets_->asked, SizeIs(51));
  EXPECT_GT(buckets_->most_open, 1);
  EXPECT_LE(buckets_->most_open, 8);
}

TEST_F(BucketCheckTest, MoreThanAreLookedUpAreRefused) {
  for (std::size_t i = 0; i <= core::kMostBuckets; ++i) {
    const std::string name = "data-" + std::to_string(i);
    loaded_.spec.command.cmd += "; ls gs://" + name;
    buckets_->locations[name] = {.name = "us-central2"};
  }
  EXPECT_THAT(Refusal(), AllOf(HasSubstr("the job names more than 100 buckets"),
                               HasSubstr("set allow_cross_region: true")));
  EXPECT_THAT(buckets_->asked, SizeIs(core::kMostBuckets));
  loaded_.spec.allow_cross_region = true;
  EXPECT_THAT(*Check(), ElementsAre(HasSubstr("more than 100 buckets")));
}

TEST_F(BucketCheckTest, ABucketThatIsNotThereIsRefused) {
  loaded_.spec.gcsfuse.bucket_name = "lost";
  EXPECT_THAT(Refusal(), HasSubstr("job.yaml:2:3: there is no bucket lost (gcsfuse.bucket_name); "
                                   "reading 1 TB in us-central2 from another region costs about "
                                   "$20 to $140"));
  EXPECT_THAT(Refusal(), HasSubstr("gs://lost --location=us-central2"));
}

TEST_F(BucketCheckTest, ABucketThatMayNotBeSeenIsRefused) {
  buckets_->broken = base::Error{.code = base::Code::kPermissionDenied, .message = "no access"};
  EXPECT_THAT(Refusal(), HasSubstr("job.yaml:2:3: you may not see where the bucket data "
                                   "(gcsfuse.bucket_name) is: no access; reading 1 TB in "
                                   "us-central2 from another region costs about $20 to $140"));
  EXPECT_THAT(Refusal(), HasSubstr("roles/storage.objectViewer, or set allow_cross_region: true if "
                                   "it is in us-central2 or may be billed"));
}

TEST_F(BucketCheckTest, ARefusalThatHasItsOwnCureNamesThat) {
  buckets_->broken = base::Error{
      .code = base::Code::kPermissionDenied, .message = "no", .hint = "name another quota project"};
  EXPECT_THAT(Refusal(), AllOf(HasSubstr("name another quota project, or set allow_cross_region"),
                               Not(HasSubstr("objectViewer"))));
}

TEST_F(BucketCheckTest, ACloudThatCannotBeAskedRefusesWithItsOwnCode) {
  for (const auto code :
       {base::Code::kUnavailable, base::Code::kUnauthenticated, base::Code::kDeadlineExceeded}) {
    buckets_->broken = base::Error{.code = code, .message = "not now"};
    const auto checked = Check();
    ASSERT_FALSE(checked.ok());
    EXPECT_EQ(checked.error().code, code) << "a script may try again";
    EXPECT_EQ(checked.error().message,
              "whether the bucket data (gcsfuse.bucket_name) is in us-central2 could not be "
              "checked: not now; reading 1 TB in us-central2 from another region costs about $20 "
              "to $140");
    EXPECT_EQ(checked.error().hint,
              "try again later, or set allow_cross_region: true if all of them are in us-central2 "
              "or may be billed")
        << "edit makes this check, too, and has no --no-preflight";
  }
}

TEST_F(BucketCheckTest, AFaultThatPassesIsAskedAboutAgain) {
  buckets_->faults = 2;
  EXPECT_THAT(*Check(), IsEmpty());
  EXPECT_THAT(buckets_->asked, ElementsAre("data", "data", "data"));
}

TEST_F(BucketCheckTest, WithAllowCrossRegionACloudThatCannotBeAskedIsANoteWithThePrice) {
  loaded_.spec.allow_cross_region = true;
  buckets_->broken = base::Error{.code = base::Code::kUnavailable, .message = "not now"};
  EXPECT_THAT(*Check(), ElementsAre("whether the bucket data (gcsfuse.bucket_name) is in "
                                    "us-central2 could not be checked: not now; reading 1 TB in "
                                    "us-central2 from another region costs about $20 to $140"));
}

TEST_F(BucketCheckTest, WhatIsKnownToBeWrongIsSaidBeforeWhatIsNotKnown) {
  loaded_.spec.command.cmd = "ls gs://far";
  buckets_->unseen = {
      {"data", base::Error{.code = base::Code::kUnavailable, .message = "HTTP 503"}}};
  const auto checked = Check();
  EXPECT_EQ(checked.error().code, base::Code::kInvalidArgument);
  EXPECT_THAT(checked.error().message, HasSubstr("the bucket far "));
}

TEST_F(BucketCheckTest, WhatIsNotSeenInTimeDoesNotHoldUpTheOthers) {
  buckets_->hanging = {"data", "lost"};
  BucketQuestion question{.buckets = {"data", "far", "lost"}, .region = "us-central2"};
  question.limit = std::chrono::milliseconds{20};
  const auto found = Await(LookAtBuckets(Context(), buckets_, question));
  ASSERT_THAT(found, SizeIs(3));
  EXPECT_EQ(found[1]->name, "europe-west4");
  for (const std::size_t row : {0U, 2U}) {
    ASSERT_FALSE(found[row].ok());
    EXPECT_EQ(found[row].error().code, base::Code::kDeadlineExceeded);
    EXPECT_EQ(found[row].error().message, "Cloud Storage: no answer within 20ms");
  }
}

TEST_F(BucketCheckTest, ManyThatCannotBeSeenAreOneSentence) {
  loaded_.spec.command.cmd = "ls gs://far gs://multi";
  buckets_->broken = base::Error{.code = base::Code::kDeadlineExceeded, .message = "no answer"};
  for (const char* bucket : {"far", "multi"}) loaded_.buckets[bucket].key = "command.cmd";
  EXPECT_THAT(Refusal(), StartsWith("whether the buckets data (gcsfuse.bucket_name), far "
                                    "(command.cmd), multi (command.cmd) are in us-central2 could "
                                    "not be checked: no answer; reading 1 TB"));
}

TEST_F(BucketCheckTest, ALocationThatCannotBeKeptCountsAllTheSame) {
  loaded_.spec.gcsfuse.bucket_name = "far";
  cache_ = &full_;
  EXPECT_THAT(Refusal(), HasSubstr("is in europe-west4"));
}

TEST_F(BucketCheckTest, WithAllowCrossRegionNothingIsRefusedAndEachIsANoteWithItsPrice) {
  loaded_.spec.allow_cross_region = true;
  loaded_.spec.command.cmd = "ls gs://far gs://multi gs://lost";
  EXPECT_THAT(*Check(), ElementsAre(AllOf(HasSubstr("the bucket far "), HasSubstr("about $50"),
                                          Not(HasSubstr("job.yaml"))),
                                    AllOf(HasSubstr("the bucket multi "), HasSubstr("about $20")),
                                    HasSubstr("there is no bucket lost ")));
  EXPECT_THAT(*Check(), SizeIs(3));
  EXPECT_THAT(buckets_->asked, SizeIs(5)) << "only what was not found is asked for again";
  buckets_->broken = base::Error{.code = base::Code::kPermissionDenied, .message = "no access"};
  clock_.Advance(std::chrono::hours{25});
  EXPECT_THAT(*Check(), SizeIs(4));
}

TEST_F(BucketCheckTest, AnApiThatIsDisabledRefusesWithItsOwnCure) {
  buckets_->broken = base::Error{.code = base::Code::kPermissionDenied,
                                 .message = "Cloud Storage has not been used",
                                 .reason = base::Reason::kApiDisabled};
  const auto checked = Check();
  ASSERT_FALSE(checked.ok());
  EXPECT_THAT(checked.error().message, HasSubstr("could not be checked: Cloud Storage has not "));
  EXPECT_EQ(checked.error().reason, base::Reason::kApiDisabled);
  EXPECT_THAT(checked.error().hint,
              StartsWith("enable it: gcloud services enable storage.googleapis.com, or set "
                         "allow_cross_region: true"));
}

TEST_F(BucketCheckTest, WithoutCredentialsTheyAreRefusedToo) {
  opened_ = base::Error{.code = base::Code::kUnauthenticated, .message = "no credentials"};
  EXPECT_THAT(Refusal(), HasSubstr("could not be checked: no credentials; reading 1 TB"));
  loaded_.spec.command.cmd = "ls gs://far";
  loaded_.buckets["far"].key = "command.cmd";
  EXPECT_THAT(Refusal(), StartsWith("whether the buckets data (gcsfuse.bucket_name), far "
                                    "(command.cmd) are in us-central2 could not be checked"));
  opened_ = base::NotFound("there is no file key.json");
  EXPECT_THAT(Refusal(), HasSubstr("could not be checked: there is no file key.json"))
      << "nobody said that the buckets are not there";
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
