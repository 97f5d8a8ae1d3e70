#include "jobman/cloud/billing_api.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/fake_transport.hpp"

namespace jobman::cloud {
namespace {

using base::Code;
using ports::BilledDay;
using ports::BillingQuestion;
using test::FakeTransport;
using test::Loop;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class BillingApiTest : public testing::Test {
 protected:
  base::Result<ports::BillingAnswer> Ask() { return loop.Run(api.Ask(question)); }

  Loop loop;
  std::shared_ptr<FakeTransport::Script> script = std::make_shared<FakeTransport::Script>();
  BillingApi api{std::make_unique<FakeTransport>(script), "https://bigquery.googleapis.com/"};
  BillingQuestion question = {.table = "lab.bills.gcp_billing_export_v1_0A",
                              .runs_in = "lab",
                              .project = "research",
                              .from = base::FromMillis(1'767'225'600'000)};
};

constexpr const char* kTwoRows = R"({"jobComplete": true, "totalRows": "2", "rows": [
    {"f": [{"v": "2026-01-01"}, {"v": "TpuV4 Spot"}, {"v": "12.5"}, {"v": "USD"}]},
    {"f": [{"v": "2026-01-01"}, {"v": null}, {"v": "-1.5E-2"}, {"v": "USD"}]}]})";

TEST_F(BillingApiTest, ReadsWhatTheQueryFinds) {
  script->Answer(200, kTwoRows);
  const auto answer = Ask();
  ASSERT_TRUE(answer.ok()) << answer.error().ToString();
  EXPECT_THAT(
      answer->rows,
      ElementsAre(
          BilledDay{.day = "2026-01-01", .what = "TpuV4 Spot", .cost = 12.5, .currency = "USD"},
          BilledDay{.day = "2026-01-01", .cost = -0.015, .currency = "USD"}));
  EXPECT_FALSE(answer->more);
}

TEST_F(BillingApiTest, TheQueryHasParametersAndALimit) {
  script->Answer(200, kTwoRows);
  ASSERT_TRUE(Ask().ok());
  const http::Request& request = script->requests.at(0);
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.url, "https://bigquery.googleapis.com/bigquery/v2/projects/lab/queries");
  const base::Json body = test::Parse(request.body);
  EXPECT_EQ(body["useLegacySql"], false);
  EXPECT_EQ(body["maximumBytesBilled"], "10737418240");
  EXPECT_EQ(body["parameterMode"], "NAMED");
  EXPECT_EQ(body["queryParameters"][0]["parameterValue"]["value"], "2026-01-01T00:00:00.000Z");
  EXPECT_EQ(body["queryParameters"][1]["parameterValue"]["value"], "research");
  const std::string query = base::GetString(body, "query");
  EXPECT_THAT(query, HasSubstr("FROM `lab.bills.gcp_billing_export_v1_0A` WHERE"));
  EXPECT_THAT(query, HasSubstr("sku.description AS what"));
  EXPECT_THAT(query, HasSubstr("project.id = @project"));
  EXPECT_THAT(query, Not(HasSubstr("research"))) << "values are parameters";
}

TEST_F(BillingApiTest, EveryProjectAndServicesCanBeAskedFor) {
  question.project = "";
  question.by = BillingQuestion::By::kService;
  script->Answer(200, kTwoRows);
  ASSERT_TRUE(Ask().ok());
  const base::Json body = test::Parse(script->requests.at(0).body);
  EXPECT_EQ(body["queryParameters"].size(), 1U);
  EXPECT_THAT(base::GetString(body, "query"), HasSubstr("service.description AS what"));
  EXPECT_THAT(base::GetString(body, "query"), Not(HasSubstr("@project")));
}

TEST_F(BillingApiTest, AQueryThatRunsIsAskedForAgain) {
  const std::string runs = R"({"jobComplete": false, "jobReference":
      {"projectId": "lab", "jobId": "j/1", "location": "EU"}})";
  script->Answer(200, runs);
  script->Answer(200, R"({"jobComplete": false})");
  script->Answer(200, kTwoRows);
  EXPECT_EQ(Ask()->rows.size(), 2U);
  EXPECT_EQ(script->requests.at(2).url,
            "https://bigquery.googleapis.com/bigquery/v2/projects/lab/queries/j%2F1"
            "?timeoutMs=10000&maxResults=10000&location=EU");
  for (int i = 0; i < 50; ++i) script->Answer(200, runs);
  const auto late = Ask();
  EXPECT_EQ(late.error().code, Code::kDeadlineExceeded);
  EXPECT_THAT(late.error().hint, HasSubstr("fewer days"));
  EXPECT_EQ(script->requests.size(), 3U + 5U) << "of 10 s each: less than the client's 60 s";
}

TEST_F(BillingApiTest, OfGooglesOwnTableOnlyTheDaysAskedForAreRead) {
  // Rows that came in just now have no partition yet, and count all the same.
  constexpr const char* kSince =
      "AND (_PARTITIONTIME >= TIMESTAMP_SUB(@from, INTERVAL 1 DAY) OR _PARTITIONTIME IS NULL)";
  const auto query = [this](const std::string& table) {
    question.table = table;
    script->Answer(200, kTwoRows);
    EXPECT_TRUE(Ask().ok());
    return base::GetString(test::Parse(script->requests.back().body), "query");
  };
  EXPECT_THAT(query("lab.bills.gcp_billing_export_v1_0A"), HasSubstr(kSince));
  EXPECT_THAT(query("lab.bills.gcp_billing_export_resource_v1_0A"), HasSubstr(kSince));
  EXPECT_THAT(query("lab.gcp_billing_export_all.costs"), Not(HasSubstr("_PARTITIONTIME")))
      << "a view has no such column";
}

TEST_F(BillingApiTest, AQueryThatWouldReadTooMuchIsTold) {
  script->Answer(400, R"({"error": {"code": 400, "status": "INVALID_ARGUMENT",
      "message": "Query exceeded limit for bytes billed",
      "errors": [{"reason": "bytesBilledLimitExceeded"}]}})");
  const auto answer = Ask();
  EXPECT_EQ(answer.error().code, Code::kOutOfRange);
  EXPECT_EQ(answer.error().hint, "") << "no advice about the job file";
}

TEST_F(BillingApiTest, MoreRowsThanAreReadAreSaid) {
  script->Answer(200, R"({"jobComplete": true, "totalRows": "20000", "rows": [
      {"f": [{"v": "2026-01-01"}, {"v": "a"}, {"v": "1"}, {"v": "USD"}]}]})");
  EXPECT_TRUE(Ask()->more);
}

TEST_F(BillingApiTest, WhatIsNoAnswerIsAnError) {
  for (const char* body :
       {"<html>", "[]", "", "{}", R"({"jobComplete": true, "rows": [{"f": []}]})",
        R"({"jobComplete": true, "rows": [{"f": [{"v": "d"}, {"v": "a"}, {"v": "x"}]}]})",
        R"({"jobComplete": true, "rows": [{"f": [{"v": "d"}, {"v": "a"}, {"v": "NaN"}]}]})"}) {
    script->Answer(200, body);
    EXPECT_EQ(Ask().error().code, Code::kUnavailable) << body;
  }
  script->Answer(200, R"({"jobComplete": true})");
  EXPECT_TRUE(Ask()->rows.empty());
  script->Answer(403, R"({"error": {"code": 403, "message": "no bigquery.jobs.create"}})");
  EXPECT_EQ(Ask().error().code, Code::kPermissionDenied);
  script->Answer(404, R"({"error": {"code": 404, "message": "Not found: Table"}})");
  EXPECT_EQ(Ask().error().code, Code::kNotFound);
}

TEST_F(BillingApiTest, ATableThatIsNoneIsNotAskedFor) {
  for (const char* table :
       {"", "a", "a.b", "a.b.", ".b.c", "a..c", "a.b.c` WHERE true --", "a.b-c.d", "a.b.c d"}) {
    question.table = table;
    EXPECT_EQ(Ask().error().code, Code::kInvalidArgument) << table;
  }
  EXPECT_TRUE(script->requests.empty());
  EXPECT_TRUE(IsBillingTable("example.com:lab.bills.gcp_billing_export_resource_v1_0A-1B"));
}

}  // namespace
}  // namespace jobman::cloud
