#include "config/convert/sbatch_values.hpp"

#include <algorithm>
#include <vector>

#include "config/array.hpp"
#include "jobman/base/strings.hpp"

namespace jobman::config::convert {
namespace {

/// Numbers between colons, at most `most`; nothing if a part is none. None is so large that seconds
/// would overflow.
std::optional<std::vector<std::int64_t>> NumbersIn(std::string_view text, std::size_t most) {
  constexpr std::int64_t kLargest = 100'000'000;
  std::vector<std::int64_t> numbers;
  for (const std::string& part : base::Split(text, ':')) {
    const auto number = base::ParseNumber(part);
    if (!number || *number > kLargest || numbers.size() == most) return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}

/// A part of --array: "3", "7-9" or "0-15:4".
struct Span {
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::int64_t step = 1;
};

std::optional<Span> SpanIn(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view range = text.substr(0, colon);
  const std::size_t dash = range.find('-');
  const auto first = base::ParseNumber(range.substr(0, dash));
  const auto last =
      dash == std::string_view::npos ? first : base::ParseNumber(range.substr(dash + 1));
  auto step = std::optional<std::int64_t>(1);
  if (colon != std::string_view::npos) step = base::ParseNumber(text.substr(colon + 1));
  if (!first || !last || !step || *step < 1 || *last < *first) return std::nullopt;
  return Span{*first, *last, *step};
}

/// "0-3", or "0,4,8". More values than a file may have need not be written out.
std::string TextOfSpan(const Span& span) {
  if (span.first == span.last) return std::to_string(span.first);
  if (span.step == 1) return std::to_string(span.first) + "-" + std::to_string(span.last);
  std::vector<std::string> values;
  for (std::int64_t value = span.first; value <= span.last; value += span.step) {
    values.push_back(std::to_string(value));
    if (values.size() > std::size_t{kMostElements} || span.last - value < span.step) break;
  }
  return base::Join(values, ",");
}

}  // namespace

std::optional<std::chrono::seconds> ReadSlurmTime(std::string_view text) {
  const std::size_t dash = text.find('-');
  const bool days = dash != std::string_view::npos;
  const auto day = days ? NumbersIn(text.substr(0, dash), 1) : std::vector<std::int64_t>{0};
  auto parts = NumbersIn(days ? text.substr(dash + 1) : text, 3);
  if (!day || !parts) return std::nullopt;
  // Hours, minutes, seconds: which ones are there depends on whether days are.
  if (!days && parts->size() < 3) parts->insert(parts->begin(), 0);
  parts->resize(3);
  const std::int64_t hours = (*day)[0] * 24 + (*parts)[0];
  return std::chrono::seconds(hours * 3600 + (*parts)[1] * 60 + (*parts)[2]);
}

std::optional<SlurmArray> ReadSlurmArray(std::string_view text) {
  SlurmArray array;
  const std::size_t percent = text.find('%');
  if (percent != std::string_view::npos) {
    array.limit = base::ParseNumber(text.substr(percent + 1));
    if (!array.limit) return std::nullopt;
  }
  std::vector<std::string> texts;
  for (const std::string& part : base::Split(text.substr(0, percent), ',')) {
    const auto span = SpanIn(base::Trim(part));
    if (!span) return std::nullopt;
    const std::int64_t last = span->last - (span->last - span->first) % span->step;
    array.least = texts.empty() ? span->first : std::min(array.least, span->first);
    array.greatest = texts.empty() ? last : std::max(array.greatest, last);
    texts.push_back(TextOfSpan(*span));
  }
  array.values = base::Join(texts, ",");
  return array;
}

}  // namespace jobman::config::convert
