// What a host may print around and instead of looks at itself, and what tpu-info may print.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "jobman/base/clean.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/remote/top_script.hpp"
#include "tests/fuzz/expect.hpp"

using namespace jobman;

namespace {

void ExpectClean(const std::string& text) {
  fuzz::Expect(base::CleanLine(text) == text, "what is shown is clean");
  fuzz::Expect(text.size() <= 256, "and short");
}

void ExpectSane(const std::optional<remote::Amount>& amount) {
  if (!amount) return;
  fuzz::Expect(amount->used >= 0 && amount->total > 0, "an amount is positive");
}

void ExpectSane(const remote::HostLook& look) {
  ExpectSane(look.memory);
  ExpectSane(look.hbm);
  fuzz::Expect(!look.cpu_percent || (*look.cpu_percent >= 0 && *look.cpu_percent <= 100), "%");
  fuzz::Expect(!look.duty_percent || (*look.duty_percent >= 0 && *look.duty_percent <= 100), "%");
  fuzz::Expect(look.chips.size() <= 64, "few chips");
  for (const remote::Chip& chip : look.chips) {
    ExpectClean(chip.device);
    ExpectSane(chip.hbm);
    for (const remote::ChipHolder& holder : chip.holders) {
      ExpectClean(holder.user);
      ExpectClean(holder.command);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text = fuzz::Text(data, size);
  remote::ReadTpuInfo(base::Split(text, '\n'));
  const std::size_t piece = size == 0 ? 1 : 1 + data[0] % 64;
  remote::HostLookReader reader;
  for (std::size_t at = 0; at < text.size(); at += piece) {
    const auto look = reader.Take(std::string_view(text).substr(at, piece));
    fuzz::Expect(look.ok(), "so little is never too much");
    if (*look) ExpectSane(**look);
  }
  ExpectClean(reader.stray());
  const auto after = reader.Take("\njobman-top begin\njobman-top load 3\njobman-top end\n");
  fuzz::Expect(after.ok() && *after && (*after)->load == 3.0, "the last look counts");
  return 0;
}
