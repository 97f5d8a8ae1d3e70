#include "jobman/cloud/bucket_list.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/fake_transport.hpp"

namespace jobman::cloud {
namespace {

using base::Code;
using ports::BucketSeen;
using test::FakeTransport;
using test::Loop;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

class BucketListTest : public testing::Test {
 protected:
  Loop loop;
  std::shared_ptr<FakeTransport::Script> script = std::make_shared<FakeTransport::Script>();
  BucketList buckets{std::make_unique<FakeTransport>(script), "https://storage.googleapis.com/"};
  BucketSizes sizes{std::make_unique<FakeTransport>(script), "https://monitoring.googleapis.com"};
};

TEST_F(BucketListTest, ReadsTheBucketsOfAProjectOverAllPages) {
  script->Answer(200, R"({"nextPageToken": "b=", "items": [
      {"name": "data", "location": "US-CENTRAL2", "locationType": "region",
       "storageClass": "STANDARD"}, {}]})");
  script->Answer(200, R"({"items": [
      {"name": "two", "location": "US", "locationType": "dual-region", "storageClass": "NEARLINE",
       "customPlacementConfig": {"dataLocations": ["US-EAST1", "US-WEST1"]}}]})");
  const auto seen = loop.Run(buckets.OfProject("lab"));
  ASSERT_TRUE(seen.ok()) << seen.error().ToString();
  EXPECT_THAT(
      *seen, ElementsAre(BucketSeen{.name = "data",
                                    .location = {.name = "us-central2"},
                                    .location_type = "region",
                                    .storage_class = "STANDARD"},
                         BucketSeen{.name = "two",
                                    .location = {.name = "us", .regions = {"us-east1", "us-west1"}},
                                    .location_type = "dual-region",
                                    .storage_class = "NEARLINE"}));
  EXPECT_EQ(script->requests.at(0).url,
            "https://storage.googleapis.com/storage/v1/b?project=lab&maxResults=1000&fields="
            "nextPageToken,items(name,location,locationType,storageClass,customPlacementConfig)");
  EXPECT_THAT(script->requests.at(1).url, HasSubstr("&pageToken=b%3D"));
}

TEST_F(BucketListTest, ABucketIsReadByItsName) {
  script->Answer(200, R"({"name": "data", "location": "EU", "locationType": "multi-region"})");
  EXPECT_EQ(loop.Run(buckets.One("data"))->location.name, "eu");
  EXPECT_THAT(script->requests.at(0).url, HasSubstr("/storage/v1/b/data?fields=name,location"));
  script->Answer(404, R"({"error": {"code": 404, "message": "no such bucket"}})");
  EXPECT_EQ(loop.Run(buckets.One("none")).error().code, Code::kNotFound);
  script->Answer(200, "{}");
  EXPECT_EQ(loop.Run(buckets.One("odd")).error().code, Code::kUnavailable);
}

TEST_F(BucketListTest, SizesAreTheNewestPointsOfAllClasses) {
  script->Answer(200, R"({"nextPageToken": "2", "timeSeries": [
      {"metric": {"labels": {"storage_class": "STANDARD"}},
       "resource": {"labels": {"bucket_name": "data"}},
       "points": [{"value": {"doubleValue": 1000}}, {"value": {"doubleValue": 7}}]},
      {"resource": {"labels": {"bucket_name": "odd"}}, "points": [{"value": {"boolValue": true}}]},
      {"resource": {"labels": {"bucket_name": "none"}}, "points": []}, 7]})");
  script->Answer(200, R"({"timeSeries": [
      {"metric": {"labels": {"storage_class": "NEARLINE"}},
       "resource": {"labels": {"bucket_name": "data"}},
       "points": [{"value": {"int64Value": "24"}}]},
      {"resource": {"labels": {"bucket_name": "huge"}},
       "points": [{"value": {"doubleValue": 1e300}}]}]})");
  const auto found = loop.Run(sizes.OfProject("lab", base::FromMillis(1'767'268'800'000)));
  ASSERT_TRUE(found.ok()) << found.error().ToString();
  EXPECT_THAT(*found, ElementsAre(Pair("data", 1024)));
  const std::string& url = script->requests.at(0).url;
  EXPECT_THAT(url, HasSubstr("https://monitoring.googleapis.com/v3/projects/lab/timeSeries?filter="
                             "metric.type%3D%22storage.googleapis.com%2Fstorage%2Ftotal_bytes%22"));
  EXPECT_THAT(url, HasSubstr("interval.startTime=2025-12-30T12%3A00%3A00.000Z"));
  EXPECT_THAT(url, HasSubstr("interval.endTime=2026-01-01T12%3A00%3A00.000Z"));
  EXPECT_THAT(url, HasSubstr("&view=FULL"));
}

TEST_F(BucketListTest, OfABucketOnlyTheNewestTimeCounts) {
  const auto series = [](const std::string& bucket, const std::string& time, int bytes) {
    return R"({"resource": {"labels": {"bucket_name": ")" + bucket +
           R"("}}, "points": [{"interval": {"endTime": ")" + time +
           R"("}, "value": {"int64Value": ")" + std::to_string(bytes) + R"("}}]})";
  };
  const std::string yesterday = "2025-12-31T12:00:00Z";
  const std::string today = "2026-01-01T12:00:00Z";
  const std::string first = series("moved", yesterday, 100) + "," + series("moved", today, 60) +
                            "," + series("kept", yesterday, 7);
  const std::string second = series("moved", yesterday, 1) + "," + series("moved", today, 40);
  script->Answer(200, R"({"nextPageToken": "2", "timeSeries": [)" + first + "]}");
  script->Answer(200, R"({"timeSeries": [)" + second + "]}");
  const auto found = loop.Run(sizes.OfProject("lab", {}));
  ASSERT_TRUE(found.ok()) << found.error().ToString();
  EXPECT_THAT(*found, ElementsAre(Pair("kept", 7), Pair("moved", 100)))
      << "what was in a class that has ended is in another one now, or gone";
}

TEST_F(BucketListTest, WhatIsNoAnswerIsAnError) {
  script->Answer(403, R"({"error": {"code": 403, "message": "no monitoring.timeSeries.list"}})");
  const auto refused = loop.Run(sizes.OfProject("lab", {}));
  EXPECT_EQ(refused.error().code, Code::kPermissionDenied);
  EXPECT_EQ(refused.error().hint, "") << "no advice about TPUs";
  script->Answer(401, R"({"error": {"code": 401, "message": "Invalid Credentials"}})");
  const auto stranger = loop.Run(buckets.OfProject("lab"));
  EXPECT_EQ(stranger.error().code, Code::kUnauthenticated);
  EXPECT_THAT(stranger.error().hint, HasSubstr("jobman doctor says whose credentials"));
  script->Answer(429, R"({"error": {"code": 429, "message": "too many queries per minute"}})");
  const auto fast = loop.Run(sizes.OfProject("lab", {}));
  EXPECT_EQ(fast.error().reason, base::Reason::kRateLimit);
  EXPECT_THAT(fast.error().hint, HasSubstr("wait: "));
  for (const char* body : {"<html>", "[]", ""}) {
    script->Answer(200, body);
    EXPECT_EQ(loop.Run(buckets.OfProject("lab")).error().code, Code::kUnavailable) << body;
  }
  script->Answer(200, "{}");
  EXPECT_THAT(*loop.Run(buckets.OfProject("lab")), IsEmpty());
  for (int i = 0; i < 50; ++i) script->Answer(200, R"({"nextPageToken": "again"})");
  EXPECT_THAT(loop.Run(buckets.OfProject("lab")).error().message, HasSubstr("do not end"));
  EXPECT_THAT(loop.Run(sizes.OfProject("lab", {})).error().message, HasSubstr("do not end"));
}

}  // namespace
}  // namespace jobman::cloud
