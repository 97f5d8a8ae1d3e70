// storage: buckets with their sizes, and what remains when a service refuses.
#include "jobman/client/storage.hpp"

#include <gmock/gmock.h>

#include "tests/unit/client/client_world.hpp"

namespace jobman::client {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Says what a test has written down.
class WrittenBuckets final : public ports::BucketList {
 public:
  base::Task<base::Result<std::vector<ports::BucketSeen>>> OfProject(
      std::string /*project*/) override {
    co_return buckets;
  }
  base::Task<base::Result<ports::BucketSeen>> One(std::string bucket) override {
    asked.push_back(bucket);
    if (bucket == "hangs") co_await base::Sleep(std::chrono::hours{1});
    if (!buckets.ok()) co_return buckets.error();
    for (const ports::BucketSeen& one : *buckets)
      if (one.name == bucket) co_return one;
    co_return base::NotFound("there is no bucket " + bucket);
  }
  base::Result<std::vector<ports::BucketSeen>> buckets = std::vector<ports::BucketSeen>{
      {.name = "data", .location = {.name = "us-central2"}, .location_type = "region"},
      {.name = "far", .location = {.name = "europe-west4"}, .location_type = "region"},
      {.name = "wide", .location = {.name = "us"}, .location_type = "multi-region"}};
  std::vector<std::string> asked = {};
};

class WrittenSizes final : public ports::BucketSizes {
 public:
  using Bytes = std::map<std::string, std::int64_t>;
  base::Task<base::Result<Bytes>> OfProject(std::string /*project*/,
                                            base::TimePoint /*now*/) override {
    co_return sizes;
  }
  base::Result<Bytes> sizes = Bytes{{"data", 1024}, {"other", 1}};
};

class StorageTest : public test::ClientWorld {
 protected:
  StorageAnswer Ask() {
    client::Context context = Context();
    context.open_bucket_list = [this](const asio::any_io_executor&, const core::CloudSpec&)
        -> base::Result<std::shared_ptr<ports::BucketList>> { return buckets_; };
    context.open_bucket_sizes = [this](const asio::any_io_executor&, const core::CloudSpec&)
        -> base::Result<std::shared_ptr<ports::BucketSizes>> { return sizes_; };
    return Await(AskStorage(context, query_));
  }

  StorageQuery query_ = {.project = "lab"};
  std::shared_ptr<WrittenBuckets> buckets_ = std::make_shared<WrittenBuckets>();
  std::shared_ptr<WrittenSizes> sizes_ = std::make_shared<WrittenSizes>();
};

TEST_F(StorageTest, BucketsOfTheProjectHaveTheirSizes) {
  const StorageAnswer answer = Ask();
  ASSERT_EQ(answer.rows.size(), 3U);
  EXPECT_EQ(answer.rows[0].seen->name, "data");
  EXPECT_EQ(answer.rows[0].bytes, 1024);
  EXPECT_EQ(answer.rows[1].bytes, std::nullopt) << "not measured is not 0";
  EXPECT_FALSE(answer.no_list);
  EXPECT_FALSE(answer.no_sizes);
}

TEST_F(StorageTest, WhatIsInNoRegionOfAJobIsElsewhere) {
  EXPECT_FALSE(Ask().rows[1].elsewhere) << "there is no job";
  core::Job job = test::JobBuilder().Build();
  job.spec.tpu.zone = "us-central2-b";
  Put(job);
  const StorageAnswer answer = Ask();
  EXPECT_THAT(answer.regions, ElementsAre("us-central2"));
  EXPECT_FALSE(answer.rows[0].elsewhere);
  EXPECT_TRUE(answer.rows[1].elsewhere);
  EXPECT_FALSE(answer.rows[2].elsewhere) << "of a multi-region nobody knows";
}

TEST_F(StorageTest, NamedBucketsFailEachByItself) {
  query_.buckets = {"gs://far/some/folder", "none"};
  const StorageAnswer answer = Ask();
  ASSERT_EQ(answer.rows.size(), 2U);
  EXPECT_EQ(answer.rows[0].name, "far");
  EXPECT_TRUE(answer.rows[0].seen);
  EXPECT_EQ(answer.rows[1].refused->code, base::Code::kNotFound);
  EXPECT_THAT(buckets_->asked, ElementsAre("far", "none"));
}

TEST_F(StorageTest, ABucketThatHangsDoesNotCostTheOthers) {
  query_.buckets = {"hangs", "far"};
  query_.limit = std::chrono::milliseconds{50};
  const StorageAnswer answer = Ask();
  EXPECT_FALSE(answer.no_list);
  ASSERT_EQ(answer.rows.size(), 2U);
  EXPECT_EQ(answer.rows[0].refused->code, base::Code::kDeadlineExceeded);
  EXPECT_TRUE(answer.rows[1].seen);
}

TEST_F(StorageTest, ANamedBucketThatIsRefusedSaysWhatToDo) {
  query_.buckets = {"none"};
  EXPECT_THAT(Ask().rows.at(0).refused->hint, HasSubstr("gcloud storage buckets list"));
  const base::Error denied{.code = base::Code::kPermissionDenied, .message = "not allowed"};
  buckets_->buckets = denied;
  EXPECT_THAT(Ask().rows.at(0).refused->hint, HasSubstr("roles/storage.bucketViewer"));
}

TEST_F(StorageTest, WhatOneServiceRefusesLeavesTheOthers) {
  const base::Error denied{.code = base::Code::kPermissionDenied, .message = "not allowed"};
  sizes_->sizes = denied;
  StorageAnswer answer = Ask();
  EXPECT_EQ(answer.rows.size(), 3U);
  EXPECT_THAT(answer.no_sizes->hint, HasSubstr("roles/monitoring.viewer"));
  EXPECT_THAT(answer.no_sizes->hint, HasSubstr("monitoring.googleapis.com?project=lab"));
  buckets_->buckets = denied;
  answer = Ask();
  EXPECT_THAT(answer.rows, IsEmpty());
  EXPECT_THAT(answer.no_list->hint, HasSubstr("roles/storage.bucketViewer"));
  buckets_ = nullptr;
  EXPECT_EQ(Ask().no_list->message, "this cloud has no Cloud Storage");
}

}  // namespace
}  // namespace jobman::client
