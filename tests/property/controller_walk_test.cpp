// Random walks of the whole controller in virtual time, with faults of the cloud, the hosts and the
// store, and a user who changes the wish. JOBMAN_SEED repeats a walk, JOBMAN_STEPS (handlers run by
// controllers) makes it longer.
#include <gtest/gtest.h>

#include <iostream>

#include "jobman/base/env.hpp"
#include "jobman/base/log.hpp"
#include "jobman/base/strings.hpp"
#include "tests/property/controller_world.hpp"
#include "tests/support/temp_dir.hpp"

namespace jobman::test {
namespace {

constexpr std::int64_t kDefaultSteps = 300'000;
constexpr std::int64_t kDefaultSeed = 20'261'122;
constexpr std::int64_t kWalk = 15'000;
/// In one minute, of at most six jobs, all with faults.
constexpr int kMostRequests = 300;

std::int64_t FromEnv(const char* name, std::int64_t otherwise) {
  const auto text = base::GetEnv(name);
  return text ? base::ParseNumber(*text).value_or(otherwise) : otherwise;
}

std::string Story(std::uint64_t seed, const ControllerWorld& world) {
  const Witness& witness = world.witness();
  std::string story = "JOBMAN_SEED=" + std::to_string(seed) + ": " + witness.broken();
  story += "\n  odds: " + world.Conditions();
  for (const std::string& line : witness.story()) story += "\n  " + line;
  return story;
}

TEST(ControllerWalk, KeepsItsInvariantsInARandomWorld) {
  const std::int64_t wanted = FromEnv("JOBMAN_STEPS", kDefaultSteps);
  const auto first = static_cast<std::uint64_t>(FromEnv("JOBMAN_SEED", kDefaultSeed));
  TempDir dir;
  base::StartLog(dir / "controller.log", base::LogLevel::kError, "");
  std::int64_t steps = 0;
  int most_requests = 0;
  std::uint64_t seed = first;
  for (; steps < wanted; ++seed) {
    const base::Path home = dir / std::to_string(seed);
    ASSERT_TRUE(base::EnsureDir(home).ok());
    ControllerWorld world(seed, home);
    ASSERT_TRUE(world.Walk(kWalk)) << Story(seed, world);
    steps += world.steps();
    most_requests = std::max(most_requests, world.most_requests());
  }
  EXPECT_LE(most_requests, kMostRequests) << "in one minute";
  std::cout << steps << " handlers in " << seed - first << " walks from JOBMAN_SEED=" << first
            << ", at most " << most_requests << " requests in a minute\n";
}

}  // namespace
}  // namespace jobman::test
