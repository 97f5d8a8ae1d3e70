// A slice is requested by the topology of its chips.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/e2e/place.hpp"

namespace jobman::test {
namespace {

using testing::HasSubstr;

class Topology : public testing::Test {
 protected:
  void SetUp() override { place_.StartSim({"--delays", "0"}); }
  Ran RunWith(const std::string& name, const std::vector<std::string>& sets) {
    std::vector<std::string> args = {"run", place_.JobFile(name, 1, "echo here")};
    for (const std::string& set : sets) args.insert(args.end(), {"--set", set});
    return place_.Jobman(args);
  }
  Place place_;
};

TEST_F(Topology, AGenerationAndATopologyAreASlice) {
  for (const char* mode : {"queued-resources", "tpu-vm"}) {
    const Ran ran = RunWith(mode, {"tpu.accelerator=v4", "tpu.topology=2x2x1",
                                   std::string("tpu.allocation_mode=") + mode});
    EXPECT_EQ(ran.code, 0) << ran.All();
    EXPECT_THAT(ran.out, HasSubstr("here")) << mode;
    EXPECT_THAT(place_.Jobman({"show", mode}).out, HasSubstr("v4-8 (2x2x1)"));
  }
}

TEST_F(Topology, OneOfAnotherTypeIsRefused) {
  const Ran ran = RunWith("train", {"tpu.topology=2x2x2"});
  EXPECT_EQ(ran.code, 2) << ran.All();
  EXPECT_THAT(ran.err, HasSubstr("tpu.topology: 2x2x2 is a v4-16, and tpu.accelerator is v4-8"));
}

}  // namespace
}  // namespace jobman::test
