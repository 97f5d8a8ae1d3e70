#include <gtest/gtest.h>

#include <random>

#include "tests/unit/config/support.hpp"

namespace jobman::config {
namespace {

using testing::RequestOf;

constexpr std::string_view kSeed = R"(
job: {name: "a-${tpu.accelerator}", loop: true, environment: &env {A: 1}}
cloud: local
tpu: {accelerator: v4-32, zone: us-central2-b, tags: [a, b], flags: ["--spot"]}
setup:
  - name: one
    run: |
      echo \${HOME} $X
    hosts: [0, 1]
  - {run: "${.name}", name: two, timeout: 1h}
command:
  cmd: >-
    folded
    text
  env: {<<: *env, C: "x\ty"}
  secrets: [A, {name: B, file: ~/b}]
  workers: "0-3"
retries: {backoff: 15s, preemption: unlimited}
)";

/// Pieces with a meaning in YAML or interpolation.
constexpr std::string_view kPieces[] = {
    "${",    "}",  "\\",  "'",  "\"",       "- ",   ": ",          "\n",  "{",
    "[",     "]",  ",",   "*",  "&a ",      "#",    "|",           ">",   "!!",
    "---\n", "..", ".",   "<<", "~",        "\t",   "? ",          "%",   "@",
    "`",     "\r", "0-9", "=",  "\xC3\xA9", "null", "${oc.env:A,", "${.", "\n\n  "};

std::string Mutate(std::string text, std::mt19937& random) {
  const auto pick = [&](std::size_t count) {
    return std::uniform_int_distribution<std::size_t>(0, count - 1)(random);
  };
  for (std::size_t i = 1 + pick(6); i > 0 && !text.empty(); --i) {
    const std::size_t at = pick(text.size());
    switch (pick(4)) {
      case 0:
        text.insert(at, kPieces[pick(std::size(kPieces))]);
        break;
      case 1:
        text.erase(at, 1 + pick(8));
        break;
      case 2:
        text[at] = static_cast<char>(pick(256));
        break;
      case 3:
        text.insert(at, text.substr(pick(text.size()), 1 + pick(40)));
        break;
    }
  }
  return text;
}

TEST(Mutations, EveryTextGivesAJobOrProblems) {
  for (unsigned seed = 0; seed < 1500; ++seed) {
    std::mt19937 random(seed);
    const std::string text = Mutate(std::string(kSeed), random);
    const LoadResult result = Load(RequestOf(text));
    ASSERT_NE(result.loaded.has_value(), !result.problems.empty()) << "seed " << seed;
    for (const Problem& problem : result.problems) {
      ASSERT_FALSE(RenderProblem(problem).empty()) << "seed " << seed;
    }
    if (!result.loaded) continue;
    const LoadResult again = Load(RequestOf(ResolvedYaml(*result.loaded, true)));
    ASSERT_TRUE(again.loaded) << "seed " << seed << "\n" << testing::Rendered(again);
    ASSERT_EQ(again.loaded->spec, result.loaded->spec) << "seed " << seed;
  }
}

TEST(Mutations, RandomBytesGiveProblems) {
  for (unsigned seed = 0; seed < 500; ++seed) {
    std::mt19937 random(seed);
    std::string text;
    for (auto i = random() % 200; i > 0; --i) text += static_cast<char>(random() % 256);
    const LoadResult result = Load(RequestOf(text));
    ASSERT_FALSE(result.problems.empty()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace jobman::config
