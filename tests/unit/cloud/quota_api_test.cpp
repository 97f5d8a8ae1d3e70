#include "jobman/cloud/quota_api.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/fake_transport.hpp"

namespace jobman::cloud {
namespace {

using base::Code;
using ports::TpuLimit;
using test::Loop;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kSpotV5e = "tpu.googleapis.com/tpu-v5s-litepod-preemptible";

class QuotaApiTest : public testing::Test {
 protected:
  base::Result<std::vector<TpuLimit>> Limits() { return loop.Run(api.TpuLimits("lab")); }

  Loop loop;
  std::shared_ptr<test::FakeTransport::Script> script =
      std::make_shared<test::FakeTransport::Script>();
  QuotaApi api{std::make_unique<test::FakeTransport>(script),
               "https://serviceusage.googleapis.com/"};
};

TEST_F(QuotaApiTest, ReadsTheLimitsOfZonesAndRegions) {
  script->Answer(200, R"({"metrics": [
      {"metric": "tpu.googleapis.com/tpu-v5s-litepod-preemptible",
       "displayName": "Preemptible TPU v5 lite pod cores",
       "consumerQuotaLimits": [
         {"unit": "1/{project}/{zone}", "supportedLocations": ["us-west4-a", "us-west4-b"],
          "quotaBuckets": [{"effectiveLimit": "1536"},
                           {"effectiveLimit": "0", "dimensions": {"zone": "us-west4-a"}}]},
         {"unit": "1/{project}/{region}",
          "quotaBuckets": [{"effectiveLimit": "-1", "dimensions": {"region": "us-west4"}}]}]}]})");
  const auto limits = Limits();
  ASSERT_TRUE(limits.ok()) << limits.error().ToString();
  const TpuLimit general{.metric = kSpotV5e,
                         .name = "Preemptible TPU v5 lite pod cores",
                         .scope = TpuLimit::Scope::kZone,
                         .limit = 1536,
                         .locations = {"us-west4-a", "us-west4-b"}};
  TpuLimit zone = general;
  zone.location = "us-west4-a";
  zone.limit = 0;
  zone.locations = {};
  const TpuLimit region{.metric = kSpotV5e,
                        .name = "Preemptible TPU v5 lite pod cores",
                        .scope = TpuLimit::Scope::kRegion,
                        .location = "us-west4",
                        .unlimited = true};
  EXPECT_THAT(*limits, ElementsAre(general, zone, region));
  EXPECT_EQ(script->requests.at(0).url,
            "https://serviceusage.googleapis.com/v1beta1/projects/lab/services/tpu.googleapis.com/"
            "consumerQuotaMetrics?view=BASIC&pageSize=100");
}

TEST_F(QuotaApiTest, ALimitThatIsNotThereIsNotZero) {
  script->Answer(200, R"({"metrics": [{"metric": "m", "consumerQuotaLimits": [
      {"unit": "1/{project}/{zone}", "quotaBuckets": [{}, {"effectiveLimit": "x"},
                                                      {"effectiveLimit": 7}]}]}]})");
  const auto limits = Limits();
  ASSERT_EQ(limits->size(), 3U);
  EXPECT_EQ(limits->at(0).limit, std::nullopt);
  EXPECT_EQ(limits->at(1).limit, std::nullopt);
  EXPECT_FALSE(limits->at(0).unlimited);
  EXPECT_EQ(limits->at(2).limit, 7);
}

TEST_F(QuotaApiTest, RatesAndOtherDimensionsAreLeftOut) {
  script->Answer(200, R"({"metrics": [{"metric": "m", "consumerQuotaLimits": [
      {"unit": "1/min/{project}", "quotaBuckets": [{"effectiveLimit": "600"}]},
      {"unit": "1/{project}", "quotaBuckets": [
        {"effectiveLimit": "1", "dimensions": {"colour": "red"}}, {"effectiveLimit": "2"}]}]},
      {"consumerQuotaLimits": [{"unit": "1/{project}", "quotaBuckets": [{}]}]}, 7, null]})");
  const auto limits = Limits();
  ASSERT_TRUE(limits.ok()) << limits.error().ToString();
  EXPECT_THAT(*limits, ElementsAre(TpuLimit{.metric = "m", .limit = 2}));
}

TEST_F(QuotaApiTest, AllPagesAreRead) {
  const std::string page = R"({"metrics": [{"metric": "m", "consumerQuotaLimits": [
      {"unit": "1/{project}", "quotaBuckets": [{"effectiveLimit": "2"}]}]}])";
  script->Answer(200, page + R"(, "nextPageToken": "a/b"})");
  script->Answer(200, page + "}");
  EXPECT_EQ(Limits()->size(), 2U);
  EXPECT_THAT(script->requests.at(1).url, HasSubstr("&pageToken=a%2Fb"));
  for (int i = 0; i < 100; ++i) script->Answer(200, R"({"nextPageToken": "again"})");
  const auto endless = Limits();
  EXPECT_THAT(endless.error().message, HasSubstr("its pages do not end"));
  EXPECT_LE(script->requests.size(), 25U);
}

TEST_F(QuotaApiTest, ARefusalHasNoAdviceAboutTpus) {
  script->Answer(403, R"({"error": {"code": 403, "message": "no serviceusage.quotas.get"}})");
  const auto refused = Limits();
  EXPECT_EQ(refused.error().code, Code::kPermissionDenied);
  EXPECT_THAT(refused.error().message, HasSubstr("serviceusage.quotas.get"));
  EXPECT_EQ(refused.error().hint, "");
  script->Answer(404, R"({"error": {"code": 404, "message": "not here"}})");
  EXPECT_EQ(Limits().error().code, Code::kNotFound);
}

TEST_F(QuotaApiTest, WhatIsNotAnAnswerIsAnError) {
  for (const char* body : {"<html>", "[]", "", R"({"metrics": {"a": 1}})"}) {
    script->Answer(200, body);
    EXPECT_EQ(Limits().error().code, Code::kUnavailable) << body;
  }
  script->Answer(200, "{}");
  EXPECT_THAT(*Limits(), IsEmpty());
}

}  // namespace
}  // namespace jobman::cloud
