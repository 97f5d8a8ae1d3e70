// billing: what is asked, how rows are shown, and with which code it ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "cli/views/billing.hpp"
#include "jobman/base/json.hpp"
#include "tests/support/cli_world.hpp"

namespace jobman::test {
namespace {

using BillingView = cli::views::Billing;
using ports::BillingQuestion;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

BillingView TwoDays() {
  BillingView view;
  view.question = {.table = "lab.bills.export",
                   .runs_in = "lab",
                   .project = "lab",
                   .from = base::FromMillis(1'767'225'600'000)};
  view.answer.rows = {
      {.day = "2026-01-01", .what = "TpuV4 Spot", .cost = 12.345, .currency = "USD"},
      {.day = "2026-01-02", .what = "Storage, Iowa", .cost = 0.5, .currency = "USD"}};
  return view;
}

TEST(BillingView, IsATableWithATotal) {
  EXPECT_EQ(RenderText(TwoDays(), {.width = 80}),
            "DAY         SKU             COST  CURRENCY\n"
            "2026-01-01  TpuV4 Spot     12.35  USD\n"
            "2026-01-02  Storage, Iowa   0.50  USD\n"
            "total                      12.85  USD\n"
            "billed to project lab since 2026-01-01 (UTC), after credits; the last days may\n"
            "    be incomplete\n");
  EXPECT_THAT(RenderQuiet(TwoDays()), StartsWith("12.8"));
  BillingView view = TwoDays();
  view.answer.rows.push_back({.day = "2026-01-02", .what = "x", .cost = 3, .currency = "EUR"});
  EXPECT_THAT(RenderText(view, {}), HasSubstr("\ntotal                       3.00  EUR\n"));
  view.answer.rows.clear();
  view.question.project = "";
  EXPECT_THAT(RenderText(view, {}), StartsWith("nothing is billed\nbilled to every project since"));
}

TEST(BillingView, OfAPartOfTheRowsThereIsNoTotal) {
  BillingView view = TwoDays();
  view.answer.more = true;
  const std::string text = RenderText(view, {});
  EXPECT_THAT(text, HasSubstr("2026-01-02  Storage, Iowa"));
  EXPECT_THAT(text, Not(HasSubstr("\ntotal")));
  EXPECT_THAT(text, HasSubstr("there are more rows, so there is no total"));
  EXPECT_EQ(RenderQuiet(view), "");
  EXPECT_EQ(ToJson(view)["totals"].size(), 0U);
  EXPECT_EQ(ToJson(view)["more"], true);
}

TEST(BillingView, ByDayThereIsNoSku) {
  BillingView view = TwoDays();
  view.question.by = BillingQuestion::By::kDay;
  EXPECT_THAT(RenderText(view, {}), StartsWith("DAY          COST  CURRENCY\n2026-01-01  12.35"));
  EXPECT_EQ(RenderCsv(view), "day,cost,currency\n2026-01-01,12.345,USD\n2026-01-02,0.5,USD\n");
  EXPECT_FALSE(ToJson(view)["rows"][0].contains("sku"));
}

TEST(BillingView, JsonAndCsvHaveTheNumbers) {
  const auto json = ToJson(TwoDays());
  EXPECT_EQ(json["rows"][0]["sku"], "TpuV4 Spot");
  EXPECT_EQ(json["rows"][0]["cost"], 12.345);
  EXPECT_EQ(json["totals"][0]["currency"], "USD");
  EXPECT_EQ(json["since"], "2026-01-01T00:00:00.000Z");
  EXPECT_EQ(json["more"], false);
  EXPECT_EQ(RenderCsv(TwoDays()),
            "day,sku,cost,currency\n"
            "2026-01-01,TpuV4 Spot,12.345,USD\n"
            "2026-01-02,\"Storage, Iowa\",0.5,USD\n");
}

/// Says what a test has written down, and keeps what it was asked.
class WrittenBilling final : public ports::BillingApi {
 public:
  base::Task<base::Result<ports::BillingAnswer>> Ask(BillingQuestion question) override {
    asked = std::move(question);
    co_return answer;
  }
  base::Result<ports::BillingAnswer> answer = TwoDays().answer;
  BillingQuestion asked = {};
};

class BillingCommand : public testing::Test {
 protected:
  BillingCommand() {
    for (const char* name : {"GOOGLE_CLOUD_PROJECT", "CLOUDSDK_CORE_PROJECT", "JOBMAN_ENDPOINT",
                             "JOBMAN_BILLING_TABLE"})
      ::unsetenv(name);
    ::setenv("CLOUDSDK_CONFIG", world_.paths().home.c_str(), 1);  // no gcloud
    world_.probes.open_billing = [this](const asio::any_io_executor&, const core::CloudSpec&)
        -> base::Result<std::shared_ptr<ports::BillingApi>> { return billing_; };
  }
  ~BillingCommand() override {
    ::unsetenv("CLOUDSDK_CONFIG");
    ::unsetenv("JOBMAN_BILLING_TABLE");
  }

  CliWorld world_;
  std::shared_ptr<WrittenBilling> billing_ = std::make_shared<WrittenBilling>();
};

TEST_F(BillingCommand, WithoutATableItSaysHowToConfigureOne) {
  const auto ended = world_.Run({"billing", "--project", "lab"});
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_THAT(ended.err, HasSubstr("no table with exported billing data is named"));
  EXPECT_THAT(ended.err, HasSubstr("JOBMAN_BILLING_TABLE"));
}

TEST_F(BillingCommand, TheDaysEndToday) {
  ::setenv("JOBMAN_BILLING_TABLE", "lab.bills.export", 1);
  const auto ended = world_.Run({"billing", "--project", "lab", "--days", "2", "--by", "service"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("\n2026-01-01  TpuV4 Spot     12.35  USD\n"));
  EXPECT_EQ(billing_->asked.table, "lab.bills.export");
  EXPECT_EQ(billing_->asked.runs_in, "lab");
  EXPECT_EQ(billing_->asked.project, "lab");
  EXPECT_EQ(billing_->asked.by, BillingQuestion::By::kService);
  const auto today = std::chrono::floor<std::chrono::days>(world_.clock.Now());
  EXPECT_EQ(billing_->asked.from, today - std::chrono::days{1});
  EXPECT_EQ(world_.Run({"billing", "--project", "lab", "--all", "--csv"}).exit_code, 0);
  EXPECT_EQ(billing_->asked.project, "");
}

TEST_F(BillingCommand, APartOfTheRowsDoesNotPassForAll) {
  billing_->answer->more = true;
  const std::vector<std::string> billing = {"billing", "--project", "lab", "--table", "a.b.c"};
  EXPECT_EQ(world_.Run(billing).exit_code, 0) << "a line says so";
  for (const char* option : {"--csv", "--quiet"}) {
    std::vector<std::string> words = billing;
    words.emplace_back(option);
    const auto ended = world_.Run(words);
    EXPECT_EQ(ended.exit_code, 2) << option;
    EXPECT_EQ(ended.out, "");
    EXPECT_THAT(ended.err, HasSubstr("there are more rows than the 2 that were read"));
    EXPECT_THAT(ended.err, HasSubstr("--by day"));
  }
}

TEST_F(BillingCommand, AQueryThatIsTooLargeSaysWhatToDo) {
  billing_->answer = base::Error{.code = base::Code::kOutOfRange, .message = "too many bytes"};
  const auto large = world_.Run({"billing", "--project", "lab", "--table", "lab.bills.export"});
  EXPECT_THAT(large.err, HasSubstr("lab.bills.export: too many bytes"));
  EXPECT_THAT(large.err, HasSubstr("gcp_billing_export_..."));
}

/// A query that still runs says itself what to do.
TEST_F(BillingCommand, FewerDaysAreNoCureOfSilence) {
  billing_->answer = base::Error{.code = base::Code::kDeadlineExceeded,
                                 .message = "it still runs",
                                 .hint = "ask for fewer days"};
  const auto late = world_.Run({"billing", "--project", "lab", "--table", "lab.bills.export"});
  EXPECT_THAT(late.err, HasSubstr("lab.bills.export: it still runs"));
  EXPECT_THAT(late.err, HasSubstr("ask for fewer days"));
  billing_->answer = base::Error{.code = base::Code::kDeadlineExceeded, .message = "no answer"};
  const auto silent = world_.Run({"billing", "--project", "lab", "--table", "lab.bills.export"});
  EXPECT_THAT(silent.err, HasSubstr("lab.bills.export: no answer"));
  EXPECT_THAT(silent.err, HasSubstr("JOBMAN_BIGQUERY_ENDPOINT"));
}

TEST_F(BillingCommand, ARefusalSaysWhatIsNeeded) {
  const base::Error denied{.code = base::Code::kPermissionDenied, .message = "not allowed"};
  billing_->answer = denied;
  const auto ended = world_.Run({"billing", "--project", "lab", "--table", "lab.bills.export"});
  EXPECT_EQ(ended.exit_code, 4);
  EXPECT_THAT(ended.err, HasSubstr("lab.bills.export: not allowed"));
  EXPECT_THAT(ended.err, HasSubstr("roles/bigquery.jobUser"));
  billing_ = nullptr;
  const auto none = world_.Run({"billing", "--project", "lab", "--table", "lab.bills.export"});
  EXPECT_THAT(none.err, HasSubstr("this cloud has no BigQuery"));
  EXPECT_EQ(world_.Run({"billing", "--project", "lab", "--days", "0"}).exit_code, 2);
  EXPECT_EQ(world_.Run({"billing", "--table", "a.b.c"}).exit_code, 2) << "no project";
}

}  // namespace
}  // namespace jobman::test
