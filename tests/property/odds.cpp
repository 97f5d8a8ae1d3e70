#include "tests/property/odds.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include "jobman/base/strings.hpp"

namespace jobman::test {
namespace {

constexpr int kNever = 0;
constexpr int kRarely = 1;
constexpr int kUsually = 4;
constexpr int kOften = 12;
constexpr int kMostPercent = 80;  // some progress must remain possible

constexpr std::array<std::string_view, static_cast<std::size_t>(Risk::kCount)> kNames = {
    "refusal", "lost call", "late arrival", "silence", "stockout", "slice fault", "taken name",
    "host",    "command",   "delivery",     "hold",    "crash",    "store",       "hook"};

int Draw(Random& random) {
  const int dice = random.Below(100);
  if (dice < 20) return kNever;
  if (dice < 30) return kRarely;
  return dice < 70 ? kUsually : kOften;
}

}  // namespace

Odds::Odds(std::uint64_t seed) {
  Random random(seed ^ 0x6f646473U);  // a generator of its own
  for (int& quarters : quarters_) quarters = Draw(random);
}

bool Odds::Occurs(Random& random, Risk risk, int usual, int of) const {
  const int quarters = usual * quarters_.at(static_cast<std::size_t>(risk));
  return random.Below(4 * of) < std::min(quarters, 4 * of * kMostPercent / 100);
}

std::string Odds::Text() const {
  std::vector<std::string> words;
  for (std::size_t one = 0; one < quarters_.size(); ++one) {
    const std::string name{kNames.at(one)};
    if (quarters_.at(one) == kNever) words.push_back(name + " never");
    if (quarters_.at(one) == kRarely) words.push_back(name + " / 4");
    if (quarters_.at(one) == kOften) words.push_back(name + " x 3");
  }
  return words.empty() ? "all as usual" : base::Join(words, ", ");
}

}  // namespace jobman::test
