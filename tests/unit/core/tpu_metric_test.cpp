#include "jobman/core/tpu_metric.hpp"

#include <gtest/gtest.h>

namespace jobman::core {
namespace {

using Part = TpuMetric::Part;

std::string Read(const std::string& metric) {
  const auto read = ReadTpuMetric(metric);
  if (!read) return "unknown";
  return TextOf(*read) + ", " + std::string(PricingName(read->pricing));
}

int Units(const std::string& metric, const std::string& type, Pricing pricing) {
  return UnitsOf(*ReadTpuMetric(metric), *FindAccelerator(type), pricing);
}

TEST(TpuMetric, ItsNameSaysWhatItCounts) {
  EXPECT_EQ(Read("tpu.googleapis.com/tpu-v5s-litepod-preemptible"), "v5litepod, spot");
  EXPECT_EQ(Read("tpu.googleapis.com/tpu-v5s-litepod-serving"), "v5litepod serving, ondemand");
  EXPECT_EQ(Read("tpu.googleapis.com/tpu-v5s-litepod-serving-reserved"),
            "v5litepod serving, reserved");
  EXPECT_EQ(Read("tpu.googleapis.com/tpu-v6e"), "v6e, ondemand");
  EXPECT_EQ(Read("tpu.googleapis.com/tpu-v4s-preemptible"), "v4, spot");
  EXPECT_EQ(Read("tpu.googleapis.com/tpu-v4-preemptible"), "v4, spot");
  EXPECT_EQ(Read("tpu-v3-pod"), "v3 pods, ondemand");
  EXPECT_EQ(ReadTpuMetric("tpu-v2-preemptible")->part, Part::kDevices);
}

TEST(TpuMetric, ANameWithAnotherWordIsNotGuessed) {
  for (const char* name :
       {"tpu.googleapis.com/default_requests", "tpu.googleapis.com/tpu-v6e-mega", "tpu-", "tpu", "",
        "tpu-litepod", "tpu-v", "compute.googleapis.com/cpus", "tpu--v4"})
    EXPECT_EQ(Read(name), "unknown") << name;
}

TEST(TpuMetric, ASliceTakesTheNumberInTheNameOfItsType) {
  EXPECT_EQ(Units("tpu-v4s", "v4-32", Pricing::kOnDemand), 32);
  EXPECT_EQ(Units("tpu-v6e-preemptible", "v6e-16", Pricing::kSpot), 16);
  EXPECT_EQ(Units("tpu-v6e-preemptible", "v6e-16", Pricing::kPreemptible), 16);
  EXPECT_EQ(Units("tpu-v6e-preemptible", "v6e-16", Pricing::kOnDemand), 0);
  EXPECT_EQ(Units("tpu-v6e-preemptible", "v6e-16", Pricing::kFlexStart), 16);
  EXPECT_EQ(Units("tpu-v6e", "v6e-16", Pricing::kFlexStart), 0);
  EXPECT_EQ(Units("tpu-v6e-reserved", "v6e-16", Pricing::kReservationBound), 16);
  EXPECT_EQ(Units("tpu-v6e-reserved", "v6e-16", Pricing::kReserved), 16);
  EXPECT_EQ(Units("tpu-v6e", "v4-32", Pricing::kOnDemand), 0);
}

TEST(TpuMetric, SmallSlicesOfSomeGenerationsHaveAQuotaOfTheirOwn) {
  EXPECT_EQ(Units("tpu-v3", "v3-8", Pricing::kOnDemand), 8);
  EXPECT_EQ(Units("tpu-v3-pod", "v3-8", Pricing::kOnDemand), 0);
  EXPECT_EQ(Units("tpu-v3-pod", "v3-32", Pricing::kOnDemand), 32);
  EXPECT_EQ(Units("tpu-v5s-litepod", "v5litepod-8", Pricing::kOnDemand), 0);
  EXPECT_EQ(Units("tpu-v5s-litepod", "v5litepod-16", Pricing::kOnDemand), 16);
  EXPECT_EQ(Units("tpu-v5s-litepod-serving", "v5litepod-8", Pricing::kOnDemand), 8);
}

}  // namespace
}  // namespace jobman::core
