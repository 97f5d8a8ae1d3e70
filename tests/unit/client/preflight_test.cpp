// What create asks the cloud before a job is stored: all at once, told in one order.
#include <gmock/gmock.h>

#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "jobman/base/waiters.hpp"
#include "jobman/client/create_jobs.hpp"
#include "tests/unit/client/client_world.hpp"

namespace jobman::client {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;
using Words = std::vector<std::string>;
using Items = std::map<std::string, std::string>;
using Limits = std::vector<ports::RegionQuota>;
using Reserved = std::vector<core::ReservationSeen>;
using TpuLimitList = std::vector<ports::TpuLimit>;

/// The Cloud TPU API, Cloud Storage, Compute Engine and Service Usage; each answers once all four
/// were asked.
class MeetingCloud final : public ports::Catalog,
                           public ports::BucketApi,
                           public ports::ProjectApi,
                           public ports::QuotaApi {
 public:
  base::Task<base::Result<Words>> AcceleratorTypes(core::Place /*place*/) override {
    co_await Meet("types");
    co_return types;
  }
  base::Task<base::Result<Words>> RuntimeVersions(core::Place /*place*/) override {
    co_return runtimes;
  }
  base::Task<base::Result<Words>> Zones(std::string /*project*/) override { co_return Words{}; }
  base::Task<base::Result<Reserved>> Reservations(core::Place /*place*/) override {
    co_return reserved;
  }
  base::Task<base::Result<core::BucketLocation>> Location(std::string /*bucket*/) override {
    co_await Meet("bucket");
    co_return bucket;
  }
  base::Task<base::Result<Items>> Metadata(std::string /*project*/) override {
    co_await Meet("project");
    co_return metadata;
  }
  base::Task<base::Result<Limits>> Quotas(std::string /*project*/,
                                          std::string /*region*/) override {
    co_return limits;
  }
  base::Task<base::Result<TpuLimitList>> TpuLimits(std::string /*project*/) override {
    co_await Meet("quota");
    co_return tpus;
  }

  base::Result<Words> types = Words{"v4-32"};
  base::Result<Words> runtimes = Words{"tpu-ubuntu2204-base"};
  base::Result<core::BucketLocation> bucket = core::BucketLocation{.name = "us-central2"};
  base::Result<Items> metadata = Items{};
  base::Result<Limits> limits = Limits{};
  base::Result<Reserved> reserved = Reserved{};
  base::Result<TpuLimitList> tpus = TpuLimitList{};
  bool waited_in_vain = false;

 private:
  base::Task<void> Meet(std::string who) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds{2};
    here_.insert(std::move(who));
    news_.WakeAll();
    while (here_.size() < 4 && std::chrono::steady_clock::now() < until) {
      co_await news_.Wait(until);
    }
    waited_in_vain = waited_in_vain || here_.size() < 4;
  }

  std::set<std::string> here_ = {};
  base::Waiters news_ = {};
};

base::Task<base::Result<CloudClient>> CatalogOf(std::shared_ptr<MeetingCloud> cloud) {
  CloudClient client;
  client.catalog = std::move(cloud);
  co_return client;
}

class PreflightTest : public test::ClientWorld {
 protected:
  PreflightTest() {
    loaded_.spec = test::JobBuilder().Build().spec;
    loaded_.spec.ssh.private_key = (home_ / "key").string();
    loaded_.spec.gcsfuse = {.bucket_name = "data", .mount_path = "/m"};
  }
  base::Result<CheckedFile> Check(const CheckedFile* earlier = nullptr,
                                  Preflight preflight = Preflight::kAll) {
    client::Context context = Context();
    context.open_cloud = [this](const base::StatePaths&, const core::CloudSpec&) {
      return CatalogOf(meeting_);
    };
    context.open_buckets = [this](const asio::any_io_executor&, const core::CloudSpec&) {
      return base::Result<std::shared_ptr<ports::BucketApi>>(meeting_);
    };
    context.open_projects = [this](const asio::any_io_executor&, const core::CloudSpec&) {
      return base::Result<std::shared_ptr<ports::ProjectApi>>(meeting_);
    };
    context.open_quotas = [this](const asio::any_io_executor&, const core::CloudSpec&) {
      return base::Result<std::shared_ptr<ports::QuotaApi>>(meeting_);
    };
    return Await(CheckFile(context, loaded_, earlier, preflight));
  }
  static TpuLimitList Tpus(std::int64_t limit) {
    return {{.metric = "tpu.googleapis.com/tpu-v4s",
             .name = "TPU v4 cores",
             .scope = ports::TpuLimit::Scope::kZone,
             .location = "us-central2-b",
             .limit = limit}};
  }
  static Limits Addresses(double limit, double usage) {
    return {{.metric = "IN_USE_ADDRESSES", .limit = limit, .usage = usage}};
  }

  std::shared_ptr<MeetingCloud> meeting_ = std::make_shared<MeetingCloud>();
  config::Loaded loaded_ = {};
};

TEST_F(PreflightTest, EverythingIsAskedAtOnceAndToldInOneOrder) {
  meeting_->types =
      base::Error{.code = base::Code::kDeadlineExceeded, .message = "zone us-central2-b is slow"};
  meeting_->bucket = core::BucketLocation{.name = "us"};
  loaded_.spec.allow_cross_region = true;
  meeting_->limits = Addresses(8, 8);
  const auto checked = Check();
  ASSERT_TRUE(checked.ok()) << checked.error().ToString();
  EXPECT_FALSE(meeting_->waited_in_vain);
  EXPECT_THAT(checked->notes,
              ElementsAre(StartsWith("what zone us-central2-b offers could not be "),
                          StartsWith("the bucket data "),
                          StartsWith("the slice needs 4 external addresses")));
}

TEST_F(PreflightTest, OfSeveralRefusalsTheZoneSpeaksFirst) {
  meeting_->types = Words{"v4-8"};
  meeting_->bucket = core::BucketLocation{.name = "europe-west4"};
  meeting_->limits = Addresses(1, 0);
  EXPECT_THAT(Check().error().message, HasSubstr("zone us-central2-b does not offer v4-32"));
  meeting_->types = Words{"v4-32"};
  clock_.Advance(std::chrono::hours{25});
  EXPECT_THAT(Check().error().message, HasSubstr("the bucket data "));
  meeting_->bucket = core::BucketLocation{.name = "us-central2"};
  EXPECT_THAT(Check().error().message, HasSubstr("the slice needs 4 external addresses"));
}

/// The login does not hang on what the zone offers.
TEST_F(PreflightTest, OsLoginIsTurnedOffThoughTheZoneCouldNotBeAsked) {
  meeting_->types = base::Error{.code = base::Code::kUnavailable, .message = "HTTP 503"};
  meeting_->metadata = Items{{"enable-oslogin", "TRUE"}};
  const auto checked = Check();
  ASSERT_TRUE(checked.ok()) << checked.error().ToString();
  EXPECT_EQ(checked->loaded.spec.tpu.metadata.at("enable-oslogin"), "FALSE");
}

/// Of the hundred jobs of an array each would wait for it.
TEST_F(PreflightTest, ASlowCloudIsNotAskedForTheNextFile) {
  auto first = Check();
  ASSERT_TRUE(first.ok()) << first.error().ToString();
  EXPECT_FALSE(first->cloud_is_slow);
  first->cloud_is_slow = true;
  meeting_->bucket = core::BucketLocation{.name = "europe-west4"};
  clock_.Advance(std::chrono::hours{25});
  const auto second = Check(&*first);
  ASSERT_TRUE(second.ok()) << second.error().ToString();
  EXPECT_TRUE(second->cloud_is_slow);
  EXPECT_THAT(second->notes, ElementsAre(StartsWith("the cloud takes too long to answer")));
  loaded_.spec.cloud.endpoint = "https://other.googleapis.com";
  EXPECT_FALSE(Check(&*first).ok()) << "another cloud may be quick";
}

TEST_F(PreflightTest, WhatIsKnownOfOsLoginCountsForFilesThatAreNotAskedAbout) {
  meeting_->metadata = Items{{"enable-oslogin", "TRUE"}};
  auto first = Check();
  ASSERT_TRUE(first.ok()) << first.error().ToString();
  EXPECT_EQ(first->loaded.spec.tpu.metadata["enable-oslogin"], "FALSE");
  first->cloud_is_slow = true;
  auto second = Check(&*first);
  ASSERT_TRUE(second.ok()) << second.error().ToString();
  EXPECT_EQ(second->loaded.spec.tpu.metadata["enable-oslogin"], "FALSE");
  EXPECT_THAT(second->notes, ElementsAre(StartsWith("the cloud takes too long to answer"),
                                         HasSubstr("enable-oslogin: FALSE")));
}

TEST_F(PreflightTest, AReservationThatThereIsNotIsRefused) {
  loaded_.spec.tpu.pricing = core::Pricing::kReserved;
  loaded_.spec.tpu.reservation = "mine";
  meeting_->reserved = Reserved{{.id = "theirs", .state = "ACTIVE"}};
  EXPECT_THAT(Check().error().message, HasSubstr("has no reservation mine"));
  meeting_->reserved = Reserved{};
  auto first = Check();
  ASSERT_TRUE(first.ok()) << first.error().ToString();
  EXPECT_THAT(first->notes, ElementsAre(StartsWith("reservation mine in zone us-central2-b")));
  const auto second = Check(&*first);
  ASSERT_TRUE(second.ok()) << second.error().ToString();
  EXPECT_THAT(second->notes, ElementsAre()) << "it was said of the first";
}

TEST_F(PreflightTest, AQuotaThatIsTooSmallIsRefusedUnlessNobodyIsToBeAsked) {
  auto first = Check();
  ASSERT_TRUE(first.ok()) << first.error().ToString();
  meeting_->tpus = Tpus(8);
  meeting_->bucket = core::BucketLocation{.name = "europe-west4"};
  EXPECT_THAT(Check().error().message, HasSubstr("tpu-v4s is 8")) << "before the bucket";
  meeting_->bucket = core::BucketLocation{.name = "us-central2"};
  EXPECT_TRUE(Check(&*first).ok()) << "it was asked for the first file";
  EXPECT_TRUE(Check(nullptr, Preflight::kHeldSlice).ok()) << "its slice is there";
  EXPECT_TRUE(Check(nullptr, Preflight::kNone).ok());
}

TEST_F(PreflightTest, ThatNobodyAnswersIsSaidOnce) {
  const base::Error silence{.code = base::Code::kUnavailable, .message = "no network"};
  meeting_->types = silence;
  meeting_->metadata = silence;
  meeting_->tpus = silence;
  EXPECT_THAT(Check()->notes, ElementsAre(StartsWith("what zone us-central2-b offers")));
}

}  // namespace
}  // namespace jobman::client
