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

}  // namespace
}  // namespace jobman::core
