#include "jobman/client/offer_check.hpp"

#include <gmock/gmock.h>

#include "tests/unit/client/client_world.hpp"

namespace jobman::client {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class OfferCheckTest : public test::ClientWorld {
 protected:
  OfferCheckTest() {
    loaded_.spec = test::JobBuilder().Build().spec;
    for (const char* key : {"tpu.accelerator", "tpu.version", "tpu.zone"}) {
      loaded_.places[key] = {.file = "job.yaml", .line = 2, .column = 3};
    }
  }
  base::Result<std::string> Check() { return Await(CheckOffer(Context(), loaded_)); }

  config::Loaded loaded_ = {};
};

TEST_F(OfferCheckTest, TheCloudIsAskedOnceADay) {
  EXPECT_EQ(*Check(), "");
  EXPECT_EQ(*Check(), "");
  EXPECT_EQ(cloud_.CountCalls("AcceleratorTypes"), 1);
  EXPECT_EQ(cloud_.CountCalls("RuntimeVersions"), 1);
  clock_.Advance(std::chrono::hours{25});
  EXPECT_EQ(*Check(), "");
  EXPECT_EQ(cloud_.CountCalls("AcceleratorTypes"), 2);
}

TEST_F(OfferCheckTest, WhatTheKeptListLacksIsAskedAgain) {
  EXPECT_EQ(*Check(), "");
  loaded_.spec.tpu.accelerator = "v4-8x";
  const auto checked = Check();
  ASSERT_FALSE(checked.ok());
  EXPECT_EQ(checked.error().reason, base::Reason::kBadAccelerator);
  EXPECT_THAT(checked.error().message, HasSubstr("zone us-central2-b does not offer v4-8x"));
  EXPECT_THAT(checked.error().message, HasSubstr("did you mean v4-8?"));
  EXPECT_EQ(cloud_.CountCalls("AcceleratorTypes"), 2) << "it may be newer than the list";
}

TEST_F(OfferCheckTest, NothingIsRefusedByAnOldListWhileTheCloudCanBeAsked) {
  const std::string place = ":" + loaded_.spec.cloud.endpoint + ":" + loaded_.spec.tpu.project +
                            ":" + loaded_.spec.tpu.zone;
  EXPECT_TRUE(store_.PutInCache("offers:types" + place, {"v4-8", clock_.Now()}).ok());
  EXPECT_TRUE(store_.PutInCache("offers:runtimes" + place, {"v2-alpha", clock_.Now()}).ok());
  cloud_.SetReachable(false);
  EXPECT_THAT(Check().error().message, HasSubstr("does not offer v4-32")) << "all that is known";
  cloud_.SetReachable(true);
  EXPECT_EQ(*Check(), "") << "both were let in since";
}

TEST_F(OfferCheckTest, ASimulatorIsAskedEachTime) {
  loaded_.spec.cloud.endpoint = "local";
  EXPECT_EQ(*Check(), "");
  EXPECT_EQ(*Check(), "");
  EXPECT_EQ(cloud_.CountCalls("AcceleratorTypes"), 2);
}

TEST_F(OfferCheckTest, AnOfferThatIsMissingIsShownAtItsKey) {
  loaded_.spec.tpu.version = "tpu-ubuntu2204-bass";
  const auto checked = Check();
  ASSERT_FALSE(checked.ok());
  EXPECT_EQ(checked.error().reason, base::Reason::kBadRuntime);
  EXPECT_THAT(checked.error().message,
              HasSubstr("job.yaml:2:3: zone us-central2-b does not offer"));
  EXPECT_THAT(checked.error().message, HasSubstr("did you mean tpu-ubuntu2204-base?"));
}

TEST_F(OfferCheckTest, AnUnknownZoneIsRefused) {
  loaded_.spec.tpu.zone = "nowhere-1-a";
  EXPECT_EQ(Check().error().reason, base::Reason::kBadZone);
  loaded_.places["tpu.zone"].line = 7;
  loaded_.spec.tpu.zone = "us-central2-z";
  EXPECT_THAT(Check().error().message,
              AllOf(HasSubstr("job.yaml:7:3: the cloud does not know zone us-central2-z"),
                    HasSubstr("did you mean us-central2-b?")));
}

TEST_F(OfferCheckTest, ACloudThatCannotBeAskedIsNotAnError) {
  cloud_.SetReachable(false);
  EXPECT_THAT(*Check(), HasSubstr("connection refused"));
  EXPECT_THAT(*Check(), HasSubstr("; if it lasts, see to this machine's network"))
      << "without a cure of its own";
}

}  // namespace
}  // namespace jobman::client
