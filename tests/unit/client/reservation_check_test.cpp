// A reservation that cannot give the slice is known before anything is created.
#include "jobman/client/reservation_check.hpp"

#include <gmock/gmock.h>

#include "tests/unit/client/client_world.hpp"

namespace jobman::client {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

class ReservationCheckTest : public test::ClientWorld {
 protected:
  ReservationCheckTest() {
    loaded_.spec = test::JobBuilder().Build().spec;  // v4-32: 16 chips, 32 cores
    loaded_.spec.tpu.pricing = core::Pricing::kReserved;
    loaded_.spec.tpu.reservation = "mine";
    loaded_.places["tpu.reservation"] = {.file = "job.yaml", .line = 4, .column = 3};
  }
  /// A reservation of the job's zone.
  void Has(const std::string& id, std::int64_t chips, std::int64_t used = 0,
           const std::string& state = "ACTIVE") {
    core::ReservationSeen seen{.id = id, .state = state};
    seen.unit = core::ReservationSeen::Unit::kChips;
    seen.size = chips;
    seen.used = used;
    cloud_.AddReservation(loaded_.spec.tpu.zone, seen);
  }
  base::Result<ReservationVerdict> Check() { return Await(CheckReservation(Context(), loaded_)); }
  /// The message of the refusal; "passed" if there is none.
  std::string Refusal() {
    const auto checked = Check();
    if (checked.ok()) return "passed: " + checked->note;
    EXPECT_EQ(checked.error().reason, base::Reason::kReservation);
    return checked.error().message;
  }

  config::Loaded loaded_ = {};
};

TEST_F(ReservationCheckTest, OneThatIsLargeEnoughIsNotSpokenOf) {
  Has("mine", 16);
  EXPECT_EQ(Check()->note, "");
}

TEST_F(ReservationCheckTest, WithoutANameNobodyIsAsked) {
  loaded_.spec.tpu.reservation.clear();
  EXPECT_EQ(Check()->note, "");
  loaded_.spec.tpu.reservation = "mine";
  loaded_.spec.tpu.existing = "node";
  EXPECT_EQ(Check()->note, "");
  EXPECT_EQ(cloud_.CountCalls("Reservations"), 0);
}

TEST_F(ReservationCheckTest, OneThatThereIsNotIsRefusedWithTheRightNames) {
  Has("theirs", 64);
  Has("tiny", 8);
  EXPECT_THAT(Refusal(), AllOf(HasSubstr("job.yaml:4:3: project "),
                               HasSubstr("has no reservation mine in zone us-central2-b"),
                               HasSubstr("reservations that would do: theirs")));
  Has("mine2", 64);
  EXPECT_THAT(Refusal(), HasSubstr("did you mean mine2?"));
}

TEST_F(ReservationCheckTest, OneThatIsTooSmallIsRefused) {
  Has("mine", 8);
  EXPECT_THAT(Refusal(), AllOf(HasSubstr("reservation mine in zone us-central2-b has 8 chips, and "
                                         "the slice takes 16"),
                               HasSubstr("no other reservation would do")));
  Has("big", 64);
  EXPECT_THAT(Refusal(), HasSubstr("reservations that would do: big"));
}

TEST_F(ReservationCheckTest, AllSlicesCount) {
  Has("mine", 16);
  loaded_.spec.tpu.num_slices = 2;
  EXPECT_THAT(Refusal(), HasSubstr("has 16 chips, and the slices take 32"));
}

TEST_F(ReservationCheckTest, CoresAreCountedAsCores) {
  core::ReservationSeen seen{.id = "mine", .state = "ACTIVE"};
  seen.unit = core::ReservationSeen::Unit::kCores;
  seen.size = 16;
  cloud_.AddReservation(loaded_.spec.tpu.zone, seen);
  EXPECT_THAT(Refusal(), HasSubstr("has 16 cores, and the slice takes 32"));
}

TEST_F(ReservationCheckTest, OneThatHasEndedIsRefused) {
  Has("mine", 64, 0, "EXPIRED");
  EXPECT_THAT(Refusal(), HasSubstr("reservation mine in zone us-central2-b is EXPIRED"));
}

/// Others may end before the slice is given.
TEST_F(ReservationCheckTest, WhatIsInUseIsANote) {
  Has("mine", 64, 60);
  EXPECT_THAT(Check()->note,
              HasSubstr("has 64 chips, and the slice takes 16; 60 are in use: others "
                        "have to end first"));
}

/// Compute Engine has reservations of its own, which the list may not have.
TEST_F(ReservationCheckTest, WhatMayBeInComputeEngineIsANote) {
  EXPECT_THAT(Check()->note, HasSubstr("may be one of Compute Engine")) << "the list is empty";
  Has("theirs", 64);
  loaded_.spec.tpu.pricing = core::Pricing::kReservationBound;
  EXPECT_THAT(Check()->note, HasSubstr("may be one of Compute Engine"));
  EXPECT_TRUE(Check()->asked);
}

TEST_F(ReservationCheckTest, AListThatIsRefusedIsNoRefusal) {
  for (const base::Code code : {base::Code::kPermissionDenied, base::Code::kNotFound,
                                base::Code::kUnimplemented, base::Code::kUnavailable}) {
    cloud_.AddFault({.call = "Reservations", .error = {.code = code, .message = "no such list"}});
    const auto checked = Check();
    ASSERT_TRUE(checked.ok()) << checked.error().ToString();
    EXPECT_FALSE(checked->asked);
    EXPECT_THAT(checked->note, AllOf(StartsWith("whether there is reservation mine in zone "),
                                     HasSubstr("could not be checked: no such list")));
  }
}

TEST_F(ReservationCheckTest, AWholeNameIsLookedForInItsPlace) {
  Has("mine", 8);
  loaded_.spec.tpu.reservation = "projects/lab/locations/europe-west4-a/reservations/mine";
  core::ReservationSeen seen{.id = "mine", .state = "ACTIVE"};
  cloud_.AddReservation("europe-west4-a", seen);
  EXPECT_EQ(Check()->note, "") << "how large it is, is not told";
  EXPECT_THAT(cloud_.calls(), testing::ElementsAre("Reservations europe-west4-a"));
}

TEST_F(ReservationCheckTest, ElementsOfAnArrayAskForTheSame) {
  core::JobSpec other = loaded_.spec;
  other.name = "other";
  EXPECT_TRUE(AsksForSameReservation(loaded_.spec, other));
  other.tpu.num_slices = 2;
  EXPECT_FALSE(AsksForSameReservation(loaded_.spec, other));
}

}  // namespace
}  // namespace jobman::client
