#include "jobman/core/held_slice.hpp"

#include <gtest/gtest.h>

namespace jobman::core {
namespace {

TEST(IntendedSlice, WasLastHeardOfWhenItWasIntended) {
  const TimePoint now = TimePoint{} + std::chrono::hours{1};
  const Slice slice = IntendedSlice({.name = "s"}, now);
  EXPECT_EQ(slice.requested_at, now);
  EXPECT_EQ(slice.last_evidence_at, now) << "its absence is no fact yet";
  EXPECT_FALSE(IsHeld(slice));
}

TEST(ChosenAddress, IsTheExternalOneIfThereIsOneAndTheJobWantsIt) {
  const HostAddress both{.internal = "10.0.0.2", .external = "203.0.113.7"};
  const HostAddress one{.internal = "10.0.0.2"};
  JobSpec spec;
  EXPECT_EQ(ChosenAddress(both, spec), "203.0.113.7");
  EXPECT_EQ(ChosenAddress(one, spec), "10.0.0.2");
  spec.tpu.external_ips = false;
  EXPECT_EQ(ChosenAddress(both, spec), "10.0.0.2");
  spec.tpu.external_ips = true;
  spec.ssh.address = AddressChoice::kInternal;
  EXPECT_EQ(ChosenAddress(both, spec), "10.0.0.2");
}

TEST(CureOf, OnlyAdviceThatIsMeantForTheRefusalIsBetterThanDeletingByHand) {
  const SliceRef slice{
      .mode = AllocationMode::kTpuVm, .place = {.project = "p", .zone = "z"}, .name = "s"};
  DeleteRefused refused{
      .error = {.code = base::Code::kInternal, .message = "m", .hint = "wait for better times"}};
  EXPECT_EQ(CureOf(slice, refused),
            "delete it by hand, which jobman notices: gcloud compute tpus tpu-vm delete s --zone z "
            "--project p");
  refused.error.code = base::Code::kAborted;
  EXPECT_EQ(CureOf(slice, refused),
            "something else is changing it, and jobman tries again; if that lasts, delete it by "
            "hand, which jobman notices: gcloud compute tpus tpu-vm delete s --zone z --project p");
  refused.error.code = base::Code::kUnauthenticated;
  EXPECT_EQ(CureOf(slice, refused), "wait for better times");
  refused.error = {.reason = base::Reason::kPermission, .hint = "ask for the role"};
  EXPECT_EQ(CureOf(slice, refused), "ask for the role");
}

}  // namespace
}  // namespace jobman::core
