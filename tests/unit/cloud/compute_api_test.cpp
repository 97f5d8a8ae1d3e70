#include "jobman/cloud/compute_api.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <string>

#include "jobman/base/files.hpp"
#include "jobman/cloud/look.hpp"
#include "tests/support/fake_transport.hpp"
#include "tests/support/temp_dir.hpp"

namespace jobman::cloud {
namespace {

using base::Code;
using test::Loop;
using testing::ElementsAre;
using testing::HasSubstr;

class ComputeApiTest : public testing::Test {
 protected:
  Loop loop;
  std::shared_ptr<test::FakeTransport::Script> script =
      std::make_shared<test::FakeTransport::Script>();
  ComputeApi api{std::make_unique<test::FakeTransport>(script), "https://compute.googleapis.com/"};
};

TEST_F(ComputeApiTest, ReadsTheMetadataOfAProject) {
  script->Answer(200, R"({"commonInstanceMetadata": {"items": [
      {"key": "enable-oslogin", "value": "TRUE"}, {"key": "empty"}]}})");
  const auto metadata = loop.Run(api.Metadata("lab"));
  ASSERT_TRUE(metadata.ok()) << metadata.error().ToString();
  EXPECT_EQ(metadata->at("enable-oslogin"), "TRUE");
  EXPECT_EQ(metadata->at("empty"), "");
  EXPECT_EQ(script->requests.at(0).url,
            "https://compute.googleapis.com/compute/v1/projects/lab?fields=commonInstanceMetadata");
}

TEST_F(ComputeApiTest, AProjectWithoutMetadataHasNone) {
  script->Answer(200, "{}");
  EXPECT_TRUE(loop.Run(api.Metadata("lab"))->empty());
}

TEST_F(ComputeApiTest, ReadsTheQuotasOfARegion) {
  script->Answer(200, R"({"quotas": [
      {"metric": "IN_USE_ADDRESSES", "limit": 8.0, "usage": 3.0}, {"metric": "CPUS", "limit": 24}]})");
  const auto quotas = loop.Run(api.Quotas("lab", "us-central2"));
  ASSERT_TRUE(quotas.ok()) << quotas.error().ToString();
  const ports::RegionQuota addresses{.metric = "IN_USE_ADDRESSES", .limit = 8, .usage = 3};
  EXPECT_THAT(*quotas, ElementsAre(addresses, ports::RegionQuota{.metric = "CPUS", .limit = 24}));
  EXPECT_EQ(
      script->requests.at(0).url,
      "https://compute.googleapis.com/compute/v1/projects/lab/regions/us-central2?fields=quotas");
}

TEST_F(ComputeApiTest, AnAnswerThatIsTooLargeIsNoRefusal) {
  script->Fail({.code = Code::kOutOfRange, .message = "the answer is larger than 64 MiB"});
  const auto metadata = loop.Run(api.Metadata("lab"));
  ASSERT_FALSE(metadata.ok());
  EXPECT_EQ(metadata.error().code, Code::kUnavailable);
  EXPECT_THAT(metadata.error().hint, HasSubstr("check the endpoint"));
}

TEST_F(ComputeApiTest, RefusedCredentialsAndAWrongClockAreToldTogether) {
  script->Answer(401, R"({"error": {"message": "Invalid credentials."}})",
                 {{"Date", "Wed, 01 Jan 2020 00:00:00 GMT"}});
  const auto metadata = loop.Run(api.Metadata("lab"));
  ASSERT_FALSE(metadata.ok());
  EXPECT_EQ(metadata.error().code, Code::kUnauthenticated);
  EXPECT_THAT(metadata.error().message, HasSubstr("Invalid credentials; this machine's clock is "));
  EXPECT_THAT(metadata.error().message, HasSubstr(" ahead of the server's"));
  EXPECT_THAT(metadata.error().hint, HasSubstr("; if that does not help: "));
}

TEST_F(ComputeApiTest, ALimitThatIsNotToldIsNotZero) {
  script->Answer(200, R"({"quotas": [{"metric": "IN_USE_ADDRESSES", "usage": 3.0},
      {"metric": "CPUS", "limit": "x"}, {"metric": "DISKS_TOTAL_GB", "limit": null}, 7, null]})");
  const auto quotas = loop.Run(api.Quotas("lab", "us-central2"));
  ASSERT_TRUE(quotas.ok()) << quotas.error().ToString();
  EXPECT_TRUE(quotas->empty());
}

TEST_F(ComputeApiTest, ARefusalHasNoAdviceAboutTpus) {
  script->Answer(403, R"({"error": {"code": 403, "message": "no compute.projects.get access"}})");
  const auto metadata = loop.Run(api.Metadata("theirs"));
  ASSERT_FALSE(metadata.ok());
  EXPECT_EQ(metadata.error().code, Code::kPermissionDenied);
  EXPECT_THAT(metadata.error().message, HasSubstr("compute.projects.get"));
  EXPECT_EQ(metadata.error().hint, "");
  script->Answer(200, "<html>");
  EXPECT_EQ(loop.Run(api.Metadata("theirs")).error().code, Code::kUnavailable);
}

TEST(ServerTime, IsTheDateOfAnyAnswer) {
  Loop loop;
  const auto script = std::make_shared<test::FakeTransport::Script>();
  const auto transport = std::make_shared<test::FakeTransport>(script);
  script->Answer(404, "", {{"date", "Fri, 27 Nov 2026 18:00:00 GMT"}});
  const auto time = loop.Run(ServerTime(transport, "https://tpu.googleapis.com/"));
  ASSERT_TRUE(time.ok()) << time.error().ToString();
  EXPECT_EQ(base::FormatRfc3339(*time), "2026-11-27T18:00:00.000Z");
  EXPECT_EQ(script->requests.at(0).url, "https://tpu.googleapis.com/");
  EXPECT_TRUE(script->requests.at(0).headers.empty()) << "no credentials";
  script->Answer(200, "");
  const auto none = loop.Run(ServerTime(transport, "https://tpu.googleapis.com"));
  EXPECT_EQ(none.error().code, Code::kUnavailable);
  EXPECT_EQ(none.error().reason, base::Reason::kNone) << "it was reached";
}

TEST(LogIn, NamesWhereTheCredentialsAreFrom) {
  Loop loop;
  const auth::Env token = [](const std::string& name) {
    if (name == "JOBMAN_OSLOGIN_ENDPOINT") return std::optional<std::string>("http://127.0.0.1:1");
    return name == "GOOGLE_OAUTH_ACCESS_TOKEN" ? std::optional<std::string>("t") : std::nullopt;
  };
  const auto seen = loop.Run(LogIn({}, token));
  EXPECT_EQ(seen->origin, "GOOGLE_OAUTH_ACCESS_TOKEN");
  EXPECT_EQ(seen->account, "") << "nobody tells it";
  const auth::Env nothing = [](const std::string&) { return std::optional<std::string>(); };
  core::CloudSpec other;
  other.endpoint = "https://tpu.example.com";
  EXPECT_EQ(loop.Run(LogIn(other, nothing)).error().code, Code::kUnauthenticated);
}

TEST(LogIn, NamesAFileThatOthersMayRead) {
  const test::TempDir dir;
  const std::string file = (dir / "token").string();
  ASSERT_TRUE(base::WriteFileAtomic(file, "t").ok());
  std::filesystem::permissions(dir.path(), std::filesystem::perms{0755});
  const auth::Env nothing = [](const std::string&) { return std::optional<std::string>(); };
  const auto open_file = [&] {
    Loop loop;
    const auto seen =
        loop.Run(LogIn({.endpoint = "http://127.0.0.1:1", .token_file = file}, nothing));
    return seen ? seen->open_file : seen.error().ToString();
  };
  EXPECT_EQ(open_file(), "");
  std::filesystem::permissions(file, std::filesystem::perms{0644});
  EXPECT_EQ(open_file(), file);
}

}  // namespace
}  // namespace jobman::cloud
