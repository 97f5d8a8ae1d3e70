#include "jobman/client/zone_offers.hpp"

#include <gmock/gmock.h>

#include "jobman/client/offer_check.hpp"
#include "tests/unit/client/client_world.hpp"

namespace jobman::client {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class ZoneOffersTest : public test::ClientWorld {
 protected:
  ZonesAnswer Ask() { return Await(AskZones(Context(), query_)); }

  ZonesQuery query_ = {.project = "demo", .zones = {"us-central2-b", "europe-west4-a"}};
};

TEST_F(ZoneOffersTest, ZonesSayWhatTheyOffer) {
  const ZonesAnswer answer = Ask();
  ASSERT_EQ(answer.zones.size(), 2U);
  EXPECT_EQ(answer.zones[0].zone, "us-central2-b");
  EXPECT_THAT(answer.zones[0].types, Contains("v4-8"));
  EXPECT_THAT(answer.zones[0].runtimes, ElementsAre("tpu-ubuntu2204-base"));
  EXPECT_EQ(answer.zones[1].asked_at, clock_.Now());
  EXPECT_FALSE(answer.out_of_reach);
}

TEST_F(ZoneOffersTest, WhatWasAskedIsKeptForADayUnlessItIsAskedAnew) {
  const base::TimePoint before = clock_.Now();
  Ask();
  clock_.Advance(1h);
  EXPECT_EQ(Ask().zones[0].asked_at, before);
  EXPECT_EQ(cloud_.CountCalls("AcceleratorTypes"), 2) << "one for each zone";
  query_.anew = true;
  EXPECT_EQ(Ask().zones[0].asked_at, clock_.Now());
  EXPECT_EQ(cloud_.CountCalls("AcceleratorTypes"), 4);
}

TEST_F(ZoneOffersTest, TheListOfZonesIsKeptToo) {
  query_.zones = {"us-central2-b"};
  query_.and_not_in = query_.zones;
  for (int times = 0; times < 2; ++times) EXPECT_EQ(Ask().zones.back().zone, "europe-west4-a");
  EXPECT_EQ(cloud_.CountCalls("Zones"), 1);
}

TEST_F(ZoneOffersTest, WhatZonesAskedIsKeptForCreate) {
  config::Loaded loaded;
  loaded.spec = test::JobBuilder().Build().spec;
  query_.project = loaded.spec.tpu.project;
  query_.cloud = loaded.spec.cloud;
  query_.zones = {loaded.spec.tpu.zone};
  Ask();
  ASSERT_TRUE(Await(CheckOffer(Context(), loaded)).ok());
  EXPECT_EQ(cloud_.CountCalls("AcceleratorTypes"), 1);
}

TEST_F(ZoneOffersTest, AZoneThatRefusesIsNotTheEnd) {
  query_.zones = {"nowhere-1-a", "us-central2-b"};
  const ZonesAnswer answer = Ask();
  EXPECT_EQ(answer.zones[0].refused->reason, base::Reason::kBadZone);
  EXPECT_FALSE(answer.zones[1].refused);
  EXPECT_FALSE(answer.out_of_reach);
}

TEST_F(ZoneOffersTest, ACloudOutOfReachIsNotAskedForEachZone) {
  query_.zones.resize(100, "us-central2-b");
  cloud_.SetReachable(false);
  const ZonesAnswer answer = Ask();
  ASSERT_TRUE(answer.out_of_reach);
  EXPECT_THAT(answer.out_of_reach->message, HasSubstr("connection refused"));
  EXPECT_TRUE(answer.zones.back().refused);
  EXPECT_LE(cloud_.CountCalls("AcceleratorTypes"), 8) << "those that were asked at once";
}

TEST_F(ZoneOffersTest, WhatIsKeptIsShownEvenIfTheCloudIsOutOfReach) {
  query_.zones = {"us-central2-b"};
  Ask();
  cloud_.SetReachable(false);
  query_.zones = {"europe-west4-a", "us-central2-b"};
  const ZonesAnswer answer = Ask();
  EXPECT_TRUE(answer.out_of_reach);
  EXPECT_TRUE(answer.zones[0].refused);
  EXPECT_FALSE(answer.zones[1].refused);
}

TEST(BuiltInOffers, AreTheGenerationsOfThePriceList) {
  const ZoneOffers offers = BuiltInOffers("us-central2-b");
  EXPECT_THAT(offers.types, Contains("v4-8"));
  EXPECT_THAT(offers.types, Not(Contains(StartsWith("v6e"))));
  EXPECT_THAT(offers.runtimes, ElementsAre("tpu-ubuntu2204-base"));
  EXPECT_FALSE(offers.asked_at);
  EXPECT_TRUE(BuiltInOffers("mars-north1-a").refused);
}

}  // namespace
}  // namespace jobman::client
