// zones: what it asks, and how it shows the answers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "cli/views/zones.hpp"
#include "jobman/base/json.hpp"
#include "jobman/base/strings.hpp"
#include "tests/support/cli_world.hpp"
#include "tests/support/lend.hpp"

namespace jobman::test {
namespace {

using namespace std::chrono_literals;
using cli::views::Zones;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

client::ZoneOffers Offered(std::vector<std::string> types) {
  return {.zone = "us-central2-b",
          .types = std::move(types),
          .runtimes = {"tpu-ubuntu2204-base", "v2-alpha-tpuv5"},
          .asked_at = base::TimePoint{}};
}

client::ZoneOffers Refused(std::string zone, std::string why) {
  return {.zone = std::move(zone), .refused = base::NotFound(std::move(why))};
}

TEST(ZonesView, TypesAreShortenedToRanges) {
  using cli::views::TypeRanges;
  EXPECT_EQ(TypeRanges({"v4-128", "v4-8", "v4-16", "v5p-8"}), "v4-8..v4-128 (3), v5p-8");
  EXPECT_EQ(TypeRanges({"v4-16", "v4-8", "odd", "x-y"}), "odd, v4-8, v4-16, x-y");
  EXPECT_EQ(TypeRanges({}), "");
}

TEST(ZonesView, ARefusalIsTheZonesRow) {
  Zones view{.rows = {Offered({"v4-8", "v4-16", "v4-32"}), Refused("eu-a", "not allowed")},
             .project = "demo",
             .now = base::TimePoint{} + 3min};
  EXPECT_EQ(RenderText(view, {.width = 80}),
            "ZONE           RUNTIMES  AGE  TYPES\n"
            "us-central2-b         2   3m  v4-8..v4-32 (3)\n"
            "eu-a                  -    -  not allowed\n");
  EXPECT_EQ(RenderQuiet(view), "us-central2-b\n");
}

TEST(ZonesView, ManyGenerationsFitIntoATerminal) {
  Zones view;
  view.rows = {client::BuiltInOffers("us-central1-a")};
  view.not_asked = "no project is named";
  const std::string text = RenderText(view, {.width = 80});
  for (const std::string& line : base::Split(text, '\n')) EXPECT_LE(line.size(), 80U) << line;
  EXPECT_THAT(text, HasSubstr("v6e-1..v6e-256 (8)"));
  EXPECT_THAT(text, HasSubstr("\nthese are the built-in lists, as the cloud cannot be asked: no"));
}

TEST(ZonesView, OfATypeThePricesAreThoseOfTheSlice) {
  Zones view{.rows = {Offered({"v4-32"})}, .type = "v4-32"};
  EXPECT_EQ(
      RenderText(view, {}),
      "ZONE           ON DEMAND   SPOT  RUNTIMES  AGE\n"
      "us-central2-b      51.52  14.74         2   0s\n"
      "ON DEMAND, SPOT: USD per hour at list price (skypilot-catalog 006059e, read 2026-11-26)\n");
  view.type = "v4";
  EXPECT_THAT(RenderText(view, {}), HasSubstr("us-central2-b     3.2200  0.9215  "));
  EXPECT_THAT(RenderText(view, {}), HasSubstr("SPOT: USD per chip and hour at"));
  view.rows.push_back(Refused("mars-1-a", "no such zone"));
  EXPECT_THAT(RenderText(view, {}), HasSubstr("AGE  WHY\n"));
  EXPECT_THAT(RenderText(view, {}),
              HasSubstr("\nmars-1-a               -       -         -    -  no such zone\n"))
      << "a price that is not known is no number";
}

TEST(ZonesView, DetailsNameEverything) {
  Zones view{.rows = {Offered({"v4-8", "v4-16", "v4-32"})}, .details = true};
  view.now = base::TimePoint{} + 1h;
  EXPECT_EQ(
      RenderText(view, {}),
      "us-central2-b\n"
      "  types      v4-8, v4-16, v4-32\n"
      "  runtimes   tpu-ubuntu2204-base, v2-alpha-tpuv5\n"
      "  prices     v4 3.2200, spot 0.9215\n"
      "  asked      1h ago\n"
      "prices: USD per chip and hour at list price (skypilot-catalog 006059e, read 2026-11-26)\n");
}

TEST(ZonesView, JsonHasPricesAsNumbersAndNull) {
  Zones view{.rows = {Offered({"v4-8"}), Refused("eu-a", "not allowed")}, .type = "v4-8"};
  const auto json = ToJson(view);
  EXPECT_EQ(json["source"], "cloud");
  EXPECT_EQ(json["price_lists"][0]["date"], "2026-11-26");
  EXPECT_EQ(json["zones"][0]["types"][0], "v4-8");
  EXPECT_NEAR(json["zones"][0]["prices"]["v4-8"]["on_demand"].get<double>(), 12.88, 0.001);
  EXPECT_TRUE(json["zones"][0]["error"].is_null());
  EXPECT_TRUE(json["zones"][1]["prices"]["v4-8"]["spot"].is_null());
  EXPECT_EQ(json["zones"][1]["error"]["message"], "not allowed");
}

TEST(ZonesView, CsvHasALineForEachType) {
  Zones view{.rows = {Offered({"v4-8", "v9-1"}), Refused("eu-a", "no, not allowed")}};
  EXPECT_EQ(RenderCsv(view),
            "zone,type,on_demand,spot,asked_at,error\n"
            "us-central2-b,v4-8,12.8800,3.6860,1970-01-01T00:00:00.000Z,\n"
            "us-central2-b,v9-1,,,1970-01-01T00:00:00.000Z,\n"
            "eu-a,,,,,\"no, not allowed\"\n");
}

class ZonesCommand : public testing::Test {
 protected:
  ZonesCommand() {
    for (const char* name : {"GOOGLE_CLOUD_PROJECT", "CLOUDSDK_CORE_PROJECT", "JOBMAN_ENDPOINT"})
      ::unsetenv(name);
    ::setenv("CLOUDSDK_CONFIG", world_.paths().home.c_str(), 1);  // no gcloud
    world_.open_cloud = Lend(cloud_);
  }
  ~ZonesCommand() override { ::unsetenv("CLOUDSDK_CONFIG"); }

  CliWorld world_;
  FakeSliceApi cloud_{
      world_.clock,
      {.zones = {{"us-central2-b", {"v4-8", "v4-16"}}, {"europe-west4-a", {"v2-8"}}}}};
};

TEST_F(ZonesCommand, WithoutAProjectTheBuiltInListIsShown) {
  const auto ended = world_.Run({"zones", "-a", "v4"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("\nus-central2-b "));
  EXPECT_THAT(ended.out, HasSubstr("the cloud cannot be asked: no project is named"));
  EXPECT_EQ(cloud_.CountCalls("AcceleratorTypes"), 0);
}

TEST_F(ZonesCommand, WithoutANetworkTheBuiltInListIsShown) {
  cloud_.SetReachable(false);
  const auto ended = world_.Run({"zones", "--project", "demo"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("\nus-central2-b "));
  EXPECT_THAT(ended.out, HasSubstr("the cloud cannot be asked: 127.0.0.1:1: connection refused"));
}

TEST_F(ZonesCommand, TheZonesOfTheGenerationAreAsked) {
  const auto ended = world_.Run({"zones", "--project", "demo", "-a", "v4-16"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(cloud_.calls(),
              testing::UnorderedElementsAre("Zones demo", "AcceleratorTypes us-central2-b",
                                            "RuntimeVersions us-central2-b"))
      << "the price list has europe-west4-a, for other generations";
  EXPECT_THAT(ended.out, HasSubstr("us-central2-b      25.76  7.37         1   0s\n"));
}

TEST_F(ZonesCommand, ZonesThatThePriceListLacksAreShown) {
  FakeSliceApi newer(world_.clock,
                     {.zones = {{"us-central2-b", {"v4-8"}}, {"mars-north1-a", {"v4-8"}}}});
  world_.open_cloud = Lend(newer);
  EXPECT_EQ(world_.Run({"zones", "--project", "demo", "-q"}).out, "us-central2-b\nmars-north1-a\n");
  EXPECT_EQ(world_.Run({"zones", "--project", "demo", "-a", "v4-8", "-q"}).out,
            "us-central2-b\nmars-north1-a\n");
  newer.AddFault({.call = "Zones",
                  .error = {.code = base::Code::kPermissionDenied, .message = "not allowed"},
                  .times = 1});
  EXPECT_EQ(world_.Run({"zones", "--project", "demo", "-a", "v4", "-q", "--refresh"}).out,
            "us-central2-b\n");
}

TEST_F(ZonesCommand, OnlyZonesWithTheTypeAreShown) {
  const auto ended = world_.Run(
      {"zones", "--project", "demo", "-a", "v4-8", "-q", "us-central2-b", "europe-west4-a"});
  EXPECT_EQ(ended.out, "us-central2-b\n");
  const auto none = world_.Run({"zones", "--project", "demo", "-a", "v4-64", "us-central2-b"});
  EXPECT_EQ(none.exit_code, 3);
  EXPECT_THAT(none.err, HasSubstr("no zone that was asked offers v4-64"));
}

TEST_F(ZonesCommand, OfOneZoneEverythingIsNamed) {
  const auto ended = world_.Run({"zones", "--project", "demo", "us-central2-b"});
  EXPECT_THAT(ended.out, StartsWith("us-central2-b\n  types      v4-8, v4-16\n"));
  EXPECT_THAT(ended.out, Not(HasSubstr("built-in")));
}

TEST_F(ZonesCommand, IfAllNamedZonesRefuseTheExitCodeSaysSo) {
  const auto ended = world_.Run({"zones", "--project", "demo", "us-central2-z", "us-east9-a"});
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_THAT(ended.out, HasSubstr("\nus-central2-z         -    -  The requested zone"));
  EXPECT_EQ(world_.Run({"zones", "--project", "demo", "us-east9-a", "us-central2-b"}).exit_code, 0);
}

TEST_F(ZonesCommand, WhatCannotBeMeantIsRefused) {
  EXPECT_EQ(world_.Run({"zones", "us-central2"}).exit_code, 2) << "a region";
  EXPECT_EQ(world_.Run({"zones", "-a", "V4_8"}).exit_code, 2);
}

}  // namespace
}  // namespace jobman::test
