// A reservation that cannot give the slice is refused before anything is requested.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/e2e/place.hpp"

namespace jobman::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class Reservation : public testing::Test {
 protected:
  void SetUp() override { place_.StartSim({"--delays", "0"}); }
  /// A reservation of us-central2-b with so many chips.
  void Has(const std::string& name, int chips) {
    const std::string setting = "reservations.us-central2-b/" + name + "=" + std::to_string(chips);
    ASSERT_EQ(place_.Sim({"set", setting}).code, 0) << setting;
  }
  /// Runs a job on a v4-8, which has 4 chips.
  Ran RunWith(const std::string& reservation) {
    const std::string file = place_.JobFile("job", 1, "echo here");
    return place_.Jobman(
        {"run", file, "--set", "tpu.pricing=reserved", "--set", "tpu.reservation=" + reservation});
  }
  std::int64_t Creates() {
    const auto log = base::ParseJson(place_.Sim({"requests"}).out);
    return base::GetInt(base::GetMember(*log, "counts"), "queuedResources.create");
  }
  Place place_;
};

TEST_F(Reservation, WhatCannotGiveTheSliceIsRefusedByName) {
  Has("lab-v4", 64);
  Has("tiny", 2);
  const Ran missing = RunWith("lab-v5");
  EXPECT_EQ(missing.code, 4) << missing.All();
  EXPECT_THAT(missing.err, AllOf(HasSubstr("has no reservation lab-v5 in zone us-central2-b"),
                                 HasSubstr("did you mean lab-v4?")));
  const Ran small = RunWith("tiny");
  EXPECT_EQ(small.code, 4) << small.All();
  EXPECT_THAT(small.err, AllOf(HasSubstr("reservation tiny in zone us-central2-b has 2 chips, and "
                                         "the slice takes 4"),
                               HasSubstr("reservations that would do: lab-v4")));
  EXPECT_EQ(Creates(), 0);
}

TEST_F(Reservation, OneThatWillDoIsUsed) {
  Has("lab-v4", 64);
  const Ran ran = RunWith("lab-v4");
  EXPECT_EQ(ran.code, 0) << ran.All();
  EXPECT_THAT(ran.All(), Not(HasSubstr("Compute Engine")));
  EXPECT_EQ(place_.Log(1, 1, "run", 0), "here\n");
  EXPECT_EQ(place_.Jobman({"delete", "job", "--wait"}).code, 0);
}

TEST_F(Reservation, AListThatIsRefusedIsANote) {
  ASSERT_EQ(place_.Sim({"fault", "reservations.list", "denied", "--times", "1000"}).code, 0);
  const Ran ran = RunWith("lab-v4");
  EXPECT_EQ(ran.code, 0) << ran.All();
  EXPECT_THAT(ran.All(), HasSubstr("whether there is reservation lab-v4"));
  EXPECT_EQ(place_.Jobman({"delete", "job", "--wait"}).code, 0);
}

}  // namespace
}  // namespace jobman::test
