// A hundred random queue files with what happened to their tasks: which one does a worker take
// next, here and by the rules of Python jobman? Where the answers differ, it is for a reason that
// docs/adr/0023-task-queue.md names. data/queue_cases.md has the cases; JOBMAN_BLESS=1 writes it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bitset>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "jobman/base/env.hpp"
#include "jobman/base/files.hpp"
#include "jobman/base/strings.hpp"
#include "tests/property/queue_case.hpp"

namespace jobman::test {
namespace {

constexpr int kCases = 100;
constexpr std::size_t kDifferences = std::size(kAllDifferences);
const std::string kTableFile =
    std::string{JOBMAN_SOURCE_DIR} + "/tests/property/data/queue_cases.md";

constexpr std::string_view kHead =
    R"(# Which task is next: a hundred queue files, by Python jobman's rules and here

<!-- Written by JOBMAN_BLESS=1 ctest --preset dev -R property_queue_cases; do not edit. -->

Each seed makes a queue file, a history of its tasks, and a worker that asks for one; tests/property/queue_case.cpp
says how. The tasks are in the order of the file. Behind a task's name: `<` what it depends on; its accelerator and
zone if they are not the worker's; `x2`, if two workers may run it at a time; `retries`, if they are not 3; its runs
in the order in which they ended (`S` succeeded, `O` the output says so, `F` failed, `T` ended with 143, `P`
preempted, `X` preempted while the output says failure, `r` still goes on); what the user said last; `removed`, if
the file does not have it any more.

WHY names the row of the table in docs/adr/0023-task-queue.md: with it alone changed (or with both, if there are two),
the rules of Python jobman give what is taken here.

| seed | tasks | worker | Python | here | why |
| --- | --- | --- | --- | --- | --- |
)";

Differences SetOf(unsigned long bits) {
  Differences set;
  for (std::size_t i = 0; i < kDifferences; ++i) {
    if (std::bitset<kDifferences>(bits).test(i)) set.insert(kAllDifferences[i]);
  }
  return set;
}

/// The fewest differences with which Python jobman takes what is taken here; nothing if no set of
/// them explains it.
std::optional<Differences> WhyDifferent(const QueueCase& one) {
  std::optional<Differences> best;
  for (unsigned long bits = 0; bits < (1UL << kDifferences); ++bits) {
    const Differences set = SetOf(bits);
    const bool fewer = !best || set.size() < best->size();
    if (fewer && one.Python(set) == one.Ours()) best = set;
  }
  return best;
}

std::string NamesOf(const Differences& differences) {
  std::vector<std::string> names;
  for (const Difference one : differences) names.push_back(DifferenceName(one));
  return base::Join(names, "; and ");
}

std::string RowOf(int seed, const QueueCase& one) {
  const auto why = WhyDifferent(one);
  return "| " +
         base::Join(
             {std::to_string(seed), one.TasksText(), one.WorkerText(), one.Python({}).value_or("-"),
              one.Ours().value_or("-"), why ? NamesOf(*why) : "?"},
             " | ") +
         " |\n";
}

TEST(QueueCases, DifferOnlyAsTheDecisionSays) {
  for (int seed = 1; seed <= kCases; ++seed) {
    const QueueCase one(seed);
    ASSERT_EQ(one.broken(), "") << "seed " << seed << "\n" << one.Yaml(false);
    EXPECT_TRUE(WhyDifferent(one)) << RowOf(seed, one) << one.Yaml(true);
  }
}

TEST(QueueCases, WithAllDifferencesTheRulesAreTheSame) {
  const Differences all(std::begin(kAllDifferences), std::end(kAllDifferences));
  for (int seed = 1; seed <= 20 * kCases; ++seed) {
    const QueueCase one(seed);
    ASSERT_EQ(one.Python(all).value_or("-"), one.Ours().value_or("-"))
        << "seed " << seed << ": " << one.TasksText() << "\n"
        << one.Yaml(true);
  }
}

// Not each row is among the hundred that are written down.
TEST(QueueCases, ShowEveryDifference) {
  std::set<std::string> shown;
  for (int seed = 1; seed <= 20 * kCases; ++seed) {
    for (const Difference one : WhyDifferent(QueueCase(seed)).value_or(Differences{})) {
      shown.insert(DifferenceName(one));
    }
  }
  for (const Difference one : kAllDifferences) {
    EXPECT_TRUE(shown.contains(DifferenceName(one))) << "no case shows: " << DifferenceName(one);
  }
}

TEST(QueueCases, NameTheRowsOfTheDecision) {
  const auto decision =
      base::ReadFile(std::string{JOBMAN_SOURCE_DIR} + "/docs/adr/0023-task-queue.md");
  ASSERT_TRUE(decision.ok());
  for (const Difference one : kAllDifferences) {
    EXPECT_THAT(*decision, testing::HasSubstr("\n| " + DifferenceName(one) + " | "));
  }
}

TEST(QueueCases, AreWrittenDown) {
  std::string table(kHead);
  for (int seed = 1; seed <= kCases; ++seed) table += RowOf(seed, QueueCase(seed));
  if (base::GetEnv("JOBMAN_BLESS")) {
    ASSERT_TRUE(base::EnsureDir(base::Path(kTableFile).parent_path()).ok());
    ASSERT_TRUE(base::WriteFileAtomic(kTableFile, table, 0644).ok());
  }
  EXPECT_EQ(base::ReadFile(kTableFile).value_or(""), table)
      << "JOBMAN_BLESS=1 accepts the new cases";
}

}  // namespace
}  // namespace jobman::test
