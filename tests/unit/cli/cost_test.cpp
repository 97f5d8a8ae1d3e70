// cost: which times it counts, and how it shows them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "cli/views/costs.hpp"
#include "jobman/base/files.hpp"
#include "jobman/base/json.hpp"
#include "jobman/client/local_cloud.hpp"
#include "tests/support/cli_world.hpp"
#include "tests/support/job_builder.hpp"

namespace jobman::test {
namespace {

using namespace std::chrono_literals;
using cli::views::Costs;
using testing::HasSubstr;
using testing::Not;

constexpr base::TimePoint kMidnight = {};

/// A v4-8 on demand that was held for so long from kMidnight on.
client::HeldCost HeldFor(base::Duration time, std::int64_t job = 7) {
  client::HeldCost cost{.job = {job}, .name = "train", .user = "ada"};
  cost.tpu = {.accelerator = "v4-8", .zone = "us-central2-b"};
  cost.held = {.attempt = 1, .from = kMidnight, .to = kMidnight + time};
  cost.per_hour = cost.on_demand = 10;
  return cost;
}

/// The same on spot.
client::HeldCost OnSpotFor(base::Duration time, std::int64_t job) {
  client::HeldCost cost = HeldFor(time, job);
  cost.tpu.pricing = core::Pricing::kSpot;
  cost.per_hour = 2.5;
  return cost;
}

client::HeldCost Unknown(base::Duration time, std::int64_t job) {
  client::HeldCost cost = HeldFor(time, job);
  cost.name = "odd";
  cost.user = "bob";
  cost.tpu = {.pricing = core::Pricing::kSpot, .accelerator = "v9-1", .zone = "mars-1-a"};
  cost.per_hour.reset();
  cost.on_demand.reset();
  return cost;
}

const std::string kBasis =
    "USD at list price (skypilot-catalog 006059e, read 2026-11-26), from a job's first stage on "
    "its "
    "slice until that is given back\n";

TEST(CostsView, HasALineForEachJobAndATotal) {
  Costs view{.parts = {HeldFor(90min), HeldFor(30min), HeldFor(3h, 8)}};
  EXPECT_EQ(RenderText(view, {}),
            "JOB     NAME   ACCELERATOR  PRICING   ZONE           HELD    USD\n"
            "000007  train  v4-8         ondemand  us-central2-b    2h  20.00\n"
            "000008  train  v4-8         ondemand  us-central2-b    3h  30.00\n"
            "total                                                  5h  50.00\n" +
                kBasis);
  EXPECT_EQ(RenderQuiet(view), "50.00\n");
}

const std::string kComparison =
    "ON DEMAND: what the same hours would cost then; SAVED: how much less it was\n";

TEST(CostsView, SpotIsSetAgainstOnDemand) {
  Costs view{.parts = {HeldFor(1h), OnSpotFor(2h, 8)}};
  EXPECT_EQ(RenderText(view, {}),
            "JOB     NAME   ACCELERATOR  PRICING   ZONE           HELD    USD  ON DEMAND  SAVED\n"
            "000007  train  v4-8         ondemand  us-central2-b    1h  10.00      10.00     0%\n"
            "000008  train  v4-8         spot      us-central2-b    2h   5.00      20.00    75%\n"
            "total                                                  3h  15.00      30.00    50%\n" +
                kBasis + kComparison);
  EXPECT_THAT(
      RenderText(view, {.width = 80}),
      HasSubstr("000008  train  v4-8         us-central2-b    2h   5.00      20.00    75%\n"))
      << "the pricing is left out first";
  const auto json = ToJson(view);
  EXPECT_DOUBLE_EQ(json["rows"][1]["usd_on_demand"].get<double>(), 20);
  EXPECT_DOUBLE_EQ(json["rows"][1]["usd_saved"].get<double>(), 15);
  EXPECT_DOUBLE_EQ(json["total"]["usd_saved"].get<double>(), 15);
  view.by = Costs::By::kUser;
  EXPECT_EQ(RenderText(view, {}),
            "USER   JOBS  HELD    USD  ON DEMAND  SAVED\n"
            "ada       2    3h  15.00      30.00    50%\n"
            "total     2    3h  15.00      30.00    50%\n" +
                kBasis + kComparison);
}

TEST(CostsView, OnlyWhatHasBothPricesIsCompared) {
  client::HeldCost flexible = HeldFor(1h, 9);
  flexible.tpu.pricing = core::Pricing::kFlexStart;
  flexible.per_hour.reset();
  Costs view{.parts = {OnSpotFor(2h, 8), flexible, Unknown(1h, 10)}};
  const std::string text = RenderText(view, {});
  EXPECT_THAT(text, HasSubstr("   1h      -      10.00      -\n"));
  EXPECT_THAT(text, HasSubstr("   1h      -          -      -\n"));
  EXPECT_THAT(text, HasSubstr("   4h  5.00+     30.00+    75%\n"));
  EXPECT_TRUE(ToJson(view)["rows"][1]["usd_saved"].is_null());
}

TEST(CostsView, EachPriceListIsNamedWithItsDate) {
  Costs view{.parts = {HeldFor(1h)}};
  view.price_lists = {{.name = "prices.json", .date = "2027-02-03"},
                      {.name = "built in", .date = "2026-01-02"}};
  EXPECT_THAT(RenderText(view, {}),
              HasSubstr("(prices.json, read 2027-02-03; what that lacks: built in, read "
                        "2026-01-02), from"));
  EXPECT_EQ(ToJson(view)["price_lists"][0]["date"], "2027-02-03");
  EXPECT_EQ(ToJson(view)["price_lists"][1]["name"], "built in");
}

TEST(CostsView, WhatIsNotKnownIsNoNumberAndIsNamed) {
  Costs view{.parts = {HeldFor(1h), Unknown(2h, 8)}};
  const std::string text = RenderText(view, {});
  EXPECT_THAT(text, HasSubstr("mars-1-a         2h       -\n"));
  EXPECT_THAT(text, HasSubstr("3h  10.00+\n"));
  EXPECT_THAT(text, HasSubstr("\nno list price is known of v9-1 spot in mars-1-a: job 000008\n"));
  const auto json = ToJson(view);
  EXPECT_DOUBLE_EQ(json["rows"][0]["usd"].get<double>(), 10);
  EXPECT_TRUE(json["rows"][1]["usd"].is_null());
  EXPECT_DOUBLE_EQ(json["total"]["usd"].get<double>(), 10);
  EXPECT_EQ(json["total"]["complete"], false);
  EXPECT_EQ(json["unpriced"][0]["jobs"][0], 8);
  EXPECT_EQ(RenderQuiet(Costs{.parts = {Unknown(1h, 8)}}), "-\n");
}

TEST(CostsView, TimesAreCutByDay) {
  const Costs view{.by = Costs::By::kDay, .parts = {HeldFor(30h), HeldFor(1h, 8)}};
  EXPECT_EQ(RenderText(view, {}),
            "DAY (UTC)   JOBS  HELD     USD\n"
            "1970-01-01     2  1d1h  250.00\n"
            "1970-01-02     1    6h   60.00\n"
            "total          2  1d7h  310.00\n" +
                kBasis);
}

TEST(CostsView, SumsByUserAndZone) {
  Costs view{.by = Costs::By::kUser, .parts = {HeldFor(1h), HeldFor(2h, 8), Unknown(2h, 9)}};
  EXPECT_THAT(RenderText(view, {}), HasSubstr("USER   JOBS  HELD     USD\n"
                                              "ada       2    3h   30.00\n"
                                              "bob       1    2h       -\n"
                                              "total     3    5h  30.00+\n"));
  view.by = Costs::By::kZone;
  EXPECT_THAT(RenderText(view, {}), HasSubstr("\nmars-1-a          1    2h       -\n"));
}

TEST(CostsView, UpperBoundsAndSimulatedJobsAreSaid) {
  Costs view{.parts = {HeldFor(1h)}, .simulated = {{3}, {4}}};
  view.parts[0].held.at_most = true;
  EXPECT_THAT(RenderText(view, {}),
              HasSubstr("an upper bound, as only the beginning and end of attempts are known: job "
                        "000007\nleft out, as they are simulated and cost nothing: 2 jobs\n"));
  view.parts.clear();
  EXPECT_THAT(RenderText(view, {}), HasSubstr("no slice was held\nleft out"));
}

TEST(CostsView, FitsIntoATerminal) {
  Costs view{.parts = {HeldFor(1h), Unknown(2h, 8), OnSpotFor(1000h, 9)}};
  view.parts[0].name = std::string(60, 'n');
  const std::string text = RenderText(view, {.width = 80});
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
    EXPECT_LE(end - begin, 80U) << text.substr(begin, end - begin);
}

TEST(CostsView, CsvHasPlainNumbers) {
  Costs view{.parts = {HeldFor(90min), Unknown(2h, 8)}};
  view.parts[1].name = "a,b";
  EXPECT_EQ(RenderCsv(view),
            "job,name,user,accelerator,slices,pricing,zone,hours,usd,complete,upper_bound,"
            "usd_on_demand,usd_saved\n"
            "7,train,ada,v4-8,1,ondemand,us-central2-b,1.5000,15.0000,true,false,15.0000,0.0000\n"
            "8,\"a,b\",bob,v9-1,1,spot,mars-1-a,2.0000,,false,false,,\n");
  view.by = Costs::By::kZone;
  EXPECT_EQ(RenderCsv(view),
            "zone,jobs,hours,usd,complete,upper_bound,usd_on_demand,usd_saved\n"
            "mars-1-a,1,2.0000,,false,false,,\n"
            "us-central2-b,1,1.5000,15.0000,true,false,15.0000,0.0000\n");
}

class CostCommand : public testing::Test {
 protected:
  ~CostCommand() override { ::unsetenv("XDG_CONFIG_HOME"); }
  CostCommand() {
    world_.fill = [this](MemoryStore& store) {
      Put(store, "train", {});
      Put(store, "tried", client::kLocal);
    };
  }
  /// A v4-32 on demand that was held from three hours ago to one hour ago.
  void Put(MemoryStore& store, const std::string& name, const std::string& endpoint) {
    core::Job job = JobBuilder(name).Build();
    job.spec.cloud.endpoint = endpoint;
    const base::TimePoint now = world_.clock.Now();
    const auto id = store.Create(job, "", now - 5h);
    ASSERT_TRUE(id.ok());
    ports::Turn turn{.job = *store.Get(*id)};
    turn.job.wish_new = false;
    turn.job.attempt = 1;
    turn.job.state = core::Done{.outcome = core::Outcome::kDeleted};
    const auto told = [&](std::string kind, std::string subject, base::Duration ago) {
      turn.events.push_back(
          {.at = now - ago, .attempt = 1, .kind = std::move(kind), .subject = std::move(subject)});
    };
    told("state", "RUNNING", 3h);
    told("effect", "DeleteSlice", 1h);
    told("state", "DELETED", 1h);
    ASSERT_TRUE(store.Commit(turn, 0).ok());
  }

  /// A price list of the user's.
  void WritePrices(const std::string& text) {
    const base::Path folder = world_.paths().home / "config";
    ::setenv("XDG_CONFIG_HOME", folder.c_str(), 1);
    ASSERT_TRUE(base::EnsureDir(folder / "jobman").ok());
    ASSERT_TRUE(base::WriteFileAtomic(folder / "jobman" / "prices.json", text).ok());
  }

  CliWorld world_;
};

TEST_F(CostCommand, APriceListOfTheUsersCounts) {
  WritePrices(
      R"({"date": "2027-02-03", "usd_per_chip_hour": {"v4": {"us-central2-b": [1, 0.5]}}})");
  const auto ended = world_.Run({"cost"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("us-central2-b    2h  32.00\n"));
  EXPECT_THAT(ended.out, HasSubstr("(prices.json, read 2027-02-03; what that lacks: skypilot-"));
}

TEST_F(CostCommand, APriceListThatCannotBeReadIsRefusedByItsName) {
  WritePrices("{\"date\": \"2027\"}");
  const auto ended = world_.Run({"cost"});
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_THAT(ended.err, HasSubstr("/jobman/prices.json: \"date\": no day such as"));
  EXPECT_THAT(ended.err, HasSubstr("move it away"));
  EXPECT_EQ(world_.Run({"zones"}).exit_code, 2);
}

TEST_F(CostCommand, CountsDeletedJobsAndLeavesOutSimulatedOnes) {
  const auto ended = world_.Run({"cost"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("train  v4-32        ondemand  us-central2-b    2h  103.04\n"));
  EXPECT_THAT(ended.out, Not(HasSubstr("tried")));
  EXPECT_THAT(ended.out, HasSubstr("simulated and cost nothing: 1 job\n"));
}

TEST_F(CostCommand, ASimulatedJobIsCountedIfItIsNamed) {
  EXPECT_THAT(world_.Run({"cost", "2"}).out, HasSubstr("tried  v4-32 "));
}

TEST_F(CostCommand, SinceCutsTheTimes) {
  EXPECT_EQ(world_.Run({"cost", "-q", "--since", "2h"}).out, "51.52\n");
  EXPECT_EQ(world_.Run({"cost", "-q", "--since", "30m"}).out, "0.00\n");
  EXPECT_EQ(world_.Run({"cost", "--since", "soon"}).exit_code, 2);
}

TEST_F(CostCommand, WrongCommandLinesAreRefused) {
  EXPECT_EQ(world_.Run({"cost", "--by", "month"}).exit_code, 2);
  EXPECT_EQ(world_.Run({"cost", "nobody"}).exit_code, 3);
}

}  // namespace
}  // namespace jobman::test
