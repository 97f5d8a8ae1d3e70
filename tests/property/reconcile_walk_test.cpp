// Random walks over Reconcile: a job keeps the invariants whatever happens, and docs/states.md
// lists exactly the transitions that occur. JOBMAN_SEED repeats a walk, JOBMAN_STEPS makes it
// longer, JOBMAN_BLESS=1 rewrites the table.
#include <gtest/gtest.h>

#include <iostream>

#include "jobman/base/env.hpp"
#include "jobman/base/strings.hpp"
#include "tests/property/reconciler_world.hpp"
#include "tests/support/states_doc.hpp"

namespace jobman::test {
namespace {

constexpr std::int64_t kDefaultSteps = 1'000'000;
constexpr std::int64_t kDefaultSeed = 20'261'121;

std::int64_t FromEnv(const char* name, std::int64_t otherwise) {
  const auto text = base::GetEnv(name);
  return text ? base::ParseNumber(*text).value_or(otherwise) : otherwise;
}

int LengthOf(std::uint64_t seed) {
  return 20 + static_cast<int>(seed % 7) * 60;
}

/// The last steps of a walk that broke an invariant.
std::string Story(std::uint64_t seed, bool worker) {
  std::set<Edge> edges;
  ReconcilerWorld world(seed, edges, /*traced=*/true, worker);
  world.Walk(LengthOf(seed));
  std::string story = "JOBMAN_SEED=" + std::to_string(seed) + ": " + world.broken();
  if (worker) story += " (a worker)";
  story += "\n  odds: " + world.odds().Text();
  for (const std::string& line : world.trace()) story += "\n  " + line;
  return story;
}

struct Outcome {
  std::set<Edge> edges = {};
  std::int64_t steps = 0;
  int walks = 0;
  std::string broken = {};  ///< the story of the first walk that broke an invariant
};

Outcome WalkFor(std::int64_t steps, std::int64_t seed, bool worker) {
  Outcome outcome;
  for (auto next = static_cast<std::uint64_t>(seed); outcome.steps < steps; ++next) {
    ReconcilerWorld world(next, outcome.edges, /*traced=*/false, worker);
    const bool held = world.Walk(LengthOf(next));
    outcome.steps += world.steps();
    ++outcome.walks;
    if (held) continue;
    outcome.broken = Story(next, worker);
    break;
  }
  std::erase_if(outcome.edges, [](const Edge& edge) { return edge.first == edge.second; });
  return outcome;
}

/// Walked once for all tests of this program.
const Outcome& TheWalk() {
  static const Outcome kOutcome = [] {
    const std::int64_t steps = FromEnv("JOBMAN_STEPS", kDefaultSteps);
    const std::int64_t seed = FromEnv("JOBMAN_SEED", kDefaultSeed);
    Outcome all = WalkFor(steps, seed, /*worker=*/false);
    const Outcome workers = WalkFor(steps / 4, seed, /*worker=*/true);
    all.edges.insert(workers.edges.begin(), workers.edges.end());
    all.steps += workers.steps;
    all.walks += workers.walks;
    if (all.broken.empty()) all.broken = workers.broken;
    return all;
  }();
  return kOutcome;
}

bool IsDefaultWalk() {
  return FromEnv("JOBMAN_SEED", kDefaultSeed) == kDefaultSeed &&
         FromEnv("JOBMAN_STEPS", kDefaultSteps) >= kDefaultSteps;
}

const std::string kDoc = std::string{JOBMAN_SOURCE_DIR} + "/docs/states.md";

TEST(ReconcileWalk, KeepsItsInvariantsInARandomWorld) {
  const Outcome& outcome = TheWalk();
  std::cout << outcome.steps << " steps in " << outcome.walks
            << " walks from JOBMAN_SEED=" << FromEnv("JOBMAN_SEED", kDefaultSeed) << "\n";
  EXPECT_TRUE(outcome.broken.empty()) << outcome.broken;
  EXPECT_GE(outcome.steps, FromEnv("JOBMAN_STEPS", kDefaultSteps));
}

TEST(StatesDoc, TellsEveryTransitionThatOccursWithItsCause) {
  // The table is that of the default walk; other walks may find rarer transitions.
  if (!IsDefaultWalk()) GTEST_SKIP() << "not the default walk";
  const Outcome& outcome = TheWalk();
  if (base::GetEnv("JOBMAN_BLESS")) {
    const auto rows = ReadTransitions(kDoc);
    ASSERT_TRUE(rows.ok()) << rows.error().ToString();
    ASSERT_TRUE(WriteTransitions(kDoc, outcome.edges, *rows).ok());
  }
  const auto told = ReadTransitions(kDoc);
  ASSERT_TRUE(told.ok()) << told.error().ToString();
  for (const Edge& edge : outcome.edges) {
    const auto row = told->find(edge);
    ASSERT_TRUE(row != told->end()) << edge.first << " -> " << edge.second
                                    << " is not in docs/states.md (JOBMAN_BLESS=1 adds it)";
    EXPECT_FALSE(row->second.cause.empty() || row->second.cause == kNoCause)
        << edge.first << " -> " << edge.second << " has no cause in docs/states.md";
  }
}

TEST(StatesDoc, TellsNoTransitionThatNeverOccurs) {
  if (!IsDefaultWalk()) GTEST_SKIP() << "not the default walk";
  const auto told = ReadTransitions(kDoc);
  ASSERT_TRUE(told.ok()) << told.error().ToString();
  for (const auto& [edge, row] : *told) {
    EXPECT_TRUE(TheWalk().edges.contains(edge) || row.cause.starts_with("rarely: "))
        << edge.first << " -> " << edge.second << " (" << row.cause << ") never occurs";
  }
}

TEST(StatesDoc, DrawsOnlyWhatItTells) {
  const auto told = ReadTransitions(kDoc);
  const auto arrows = ReadArrows(kDoc);
  ASSERT_TRUE(told.ok() && arrows.ok());
  EXPECT_GT(arrows->size(), 10U);
  for (const Edge& arrow : *arrows) {
    EXPECT_TRUE(told->contains(arrow)) << arrow.first << " --> " << arrow.second;
  }
}

}  // namespace
}  // namespace jobman::test
