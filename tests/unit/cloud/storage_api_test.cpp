#include "jobman/cloud/storage_api.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/fake_transport.hpp"

namespace jobman::cloud {
namespace {

using base::Code;
using test::Loop;
using testing::HasSubstr;

class StorageApiTest : public testing::Test {
 protected:
  base::Result<core::BucketLocation> Location(const std::string& bucket) {
    return loop.Run(api.Location(bucket));
  }

  Loop loop;
  std::shared_ptr<test::FakeTransport::Script> script =
      std::make_shared<test::FakeTransport::Script>();
  StorageApi api{std::make_unique<test::FakeTransport>(script), "https://storage.googleapis.com/"};
};

TEST_F(StorageApiTest, AsksForTheLocationAlone) {
  script->Answer(200, R"({"location": "US-CENTRAL2"})");
  EXPECT_EQ(*Location("a/b"), core::BucketLocation{.name = "us-central2"});
  EXPECT_EQ(script->requests.at(0).method, "GET");
  EXPECT_EQ(script->requests.at(0).url,
            "https://storage.googleapis.com/storage/v1/b/a%2Fb"
            "?fields=location,customPlacementConfig");
  EXPECT_EQ(script->requests.at(0).body, "");
}

TEST_F(StorageApiTest, TheRegionsOfAChosenPairAreThoseThatTheServiceLists) {
  script->Answer(200, R"({"location": "US", "customPlacementConfig":
                          {"dataLocations": ["US-CENTRAL1", 7, "US-EAST1"]}})");
  EXPECT_EQ(*Location("pair"),
            (core::BucketLocation{.name = "us", .regions = {"us-central1", "us-east1"}}));
}

TEST_F(StorageApiTest, WhoMayOnlyListTheObjectsSeesTheLocationInTheLayout) {
  script->Answer(403, R"({"error": {"code": 403, "message": "no storage.buckets.get access"}})");
  script->Answer(200, R"({"location": "EU", "locationType": "multi-region"})");
  EXPECT_EQ(Location("public")->name, "eu");
  EXPECT_EQ(script->requests.at(1).url,
            "https://storage.googleapis.com/storage/v1/b/public/storageLayout"
            "?fields=location,customPlacementConfig");
}

TEST_F(StorageApiTest, ABucketThatIsNotThereIsNotFound) {
  script->Answer(404, R"({"error": {"code": 404, "message": "The specified bucket does not exist.",
                          "errors": [{"domain": "global", "reason": "notFound"}]}})");
  const auto location = Location("lost");
  ASSERT_FALSE(location.ok());
  EXPECT_EQ(location.error().code, Code::kNotFound);
  EXPECT_EQ(location.error().ToString(),
            "GET /storage/v1/b/lost: The specified bucket does not exist.");
}

TEST_F(StorageApiTest, ANotFoundOfSomethingElseSaysNothingOfTheBucket) {
  script->Answer(404, "<html>no such page</html>");
  const auto location = Location("data");
  ASSERT_FALSE(location.ok());
  EXPECT_EQ(location.error().code, Code::kUnavailable);
  EXPECT_THAT(location.error().message, HasSubstr("not the answer of Cloud Storage"));
}

TEST_F(StorageApiTest, ARefusalHasNoAdviceAboutTpus) {
  script->Answer(403, R"({"error": {"code": 403, "message": "no storage.buckets.get access"}})");
  script->Answer(403, R"({"error": {"code": 403, "message": "no storage.objects.list access"}})");
  const auto location = Location("theirs");
  ASSERT_FALSE(location.ok());
  EXPECT_EQ(location.error().code, Code::kPermissionDenied);
  EXPECT_THAT(location.error().message, HasSubstr("storage.buckets.get"));
  EXPECT_EQ(location.error().hint, "");
}

TEST_F(StorageApiTest, ARefusalOfTheCredentialsThemselvesSaysWhatToDo) {
  for (int i = 0; i < 2; ++i) {
    script->Answer(403, R"({"error": {"code": 403, "message": "no", "details": [
        {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "USER_PROJECT_DENIED"}]}})");
  }
  EXPECT_THAT(Location("data").error().hint, HasSubstr("GOOGLE_CLOUD_QUOTA_PROJECT"));
}

TEST_F(StorageApiTest, NotEvery403IsARefusal) {
  const auto answer = [this](const std::string& reason) {
    for (int i = 0; i < 2; ++i) {
      script->Answer(403, R"({"error": {"code": 403, "message": "no", "errors": [{"reason": ")" +
                              reason + R"("}]}})");
    }
    const base::Error error = Location("data").error();
    script->answers.clear();
    return error;
  };
  EXPECT_EQ(answer("forbidden").reason, base::Reason::kPermission);
  EXPECT_EQ(answer("rateLimitExceeded").reason, base::Reason::kRateLimit);
  EXPECT_THAT(answer("rateLimitExceeded").hint, HasSubstr("wait: "));
  EXPECT_EQ(answer("forbidden").hint, "") << "no advice about TPUs";
  EXPECT_EQ(answer("userRateLimitExceeded").code, Code::kResourceExhausted);
  EXPECT_EQ(answer("accessNotConfigured").reason, base::Reason::kApiDisabled);
}

TEST_F(StorageApiTest, AnAnswerWithoutALocationIsAnError) {
  script->Answer(200, "{}");
  EXPECT_EQ(Location("data").error().code, Code::kUnavailable);
  script->Answer(200, "<html>");
  EXPECT_EQ(Location("data").error().code, Code::kUnavailable);
}

}  // namespace
}  // namespace jobman::cloud
