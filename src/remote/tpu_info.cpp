#include <algorithm>
#include <charconv>
#include <cmath>

#include "jobman/base/strings.hpp"
#include "jobman/remote/top_script.hpp"

namespace jobman::remote {
namespace {

constexpr std::size_t kMostRows = 64;
constexpr double kMostBytes = 1e15;  // of a chip: far more than any has

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}
bool IsLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// What a row means, by the header above it.
struct Section {
  bool duty = false;
  bool hbm = false;
};

/// A number with its unit: "18.45 GiB", "100.00%".
struct Measure {
  double number = 0;
  std::string unit = {};
};

/// The numbers of a line, each with the letters or the '%' behind it.
std::vector<Measure> MeasuresOf(std::string_view line) {
  std::vector<Measure> all;
  for (std::size_t at = 0; at < line.size();) {
    // "v6e" and the bytes of a frame are no numbers.
    const bool inside = at > 0 && (IsLetter(line[at - 1]) || line[at - 1] == '.');
    if (!IsDigit(line[at]) || inside) {
      ++at;
      continue;
    }
    Measure one;
    const auto [stop, problem] = std::from_chars(line.data() + at, line.data() + line.size(),
                                                 one.number, std::chars_format::fixed);
    if (problem != std::errc()) return all;
    at = static_cast<std::size_t>(stop - line.data());
    std::size_t unit = at;
    while (unit < line.size() && line[unit] == ' ') ++unit;
    if (unit < line.size() && line[unit] == '%') one.unit = "%";
    while (unit < line.size() && IsLetter(line[unit])) one.unit += line[unit++];
    all.push_back(std::move(one));
  }
  return all;
}

/// Bytes of such a unit; 0 for another one.
double BytesOf(const std::string& unit) {
  const std::string low = base::ToLower(unit);
  if (low == "tib" || low == "tb") return 1024.0 * 1024 * 1024 * 1024;
  if (low == "gib" || low == "gb") return 1024.0 * 1024 * 1024;
  if (low == "mib" || low == "mb") return 1024.0 * 1024;
  return 0;
}

std::optional<double> DutyIn(const std::vector<Measure>& measures) {
  for (const Measure& one : measures) {
    if (one.unit == "%" && one.number <= 100) return one.number;
  }
  return std::nullopt;
}

/// Two sizes beside each other: used and total.
std::optional<Amount> HbmIn(const std::vector<Measure>& measures) {
  for (std::size_t i = 0; i + 1 < measures.size(); ++i) {
    const double used = measures[i].number * BytesOf(measures[i].unit);
    const double total = measures[i + 1].number * BytesOf(measures[i + 1].unit);
    if (BytesOf(measures[i].unit) == 0 || !(total > 0)) continue;
    if (!(used <= kMostBytes && total <= kMostBytes)) return std::nullopt;
    return Amount{.used = std::llround(used), .total = std::llround(total)};
  }
  return std::nullopt;
}

/// The row of this id: a table for each metric has one in each.
TpuUse* RowOf(std::vector<TpuUse>& rows, std::int64_t id) {
  const auto found =
      std::find_if(rows.begin(), rows.end(), [id](const TpuUse& row) { return row.id == id; });
  if (found != rows.end()) return &*found;
  if (rows.size() >= kMostRows) return nullptr;
  return &rows.emplace_back(TpuUse{.id = id});
}

/// A row begins with the id, a whole number without a unit.
std::optional<std::int64_t> IdOf(std::string_view line) {
  const auto first =
      std::find_if(line.begin(), line.end(), [](char c) { return IsDigit(c) || IsLetter(c); });
  const auto end = std::find_if_not(first, line.end(), IsDigit);
  if (end != line.end() && *end != ' ' && *end != '|' && static_cast<unsigned char>(*end) < 0x80)
    return std::nullopt;
  return base::ParseNumber({first, end});
}

}  // namespace

std::vector<TpuUse> ReadTpuInfo(const std::vector<std::string>& lines) {
  std::vector<TpuUse> rows;
  Section section;
  for (const std::string& line : lines) {
    const auto id = IdOf(line);
    if (!id) {
      // A title or a header; a line that is only drawn says nothing.
      const std::string low = base::ToLower(line);
      if (std::any_of(low.begin(), low.end(), IsLetter))
        section = {.duty = base::Contains(low, "duty"), .hbm = base::Contains(low, "hbm")};
      continue;
    }
    const std::vector<Measure> measures = MeasuresOf(line);
    const auto duty = section.duty ? DutyIn(measures) : std::nullopt;
    const auto hbm = section.hbm ? HbmIn(measures) : std::nullopt;
    if (!duty && !hbm) continue;
    TpuUse* const row = RowOf(rows, *id);
    if (row == nullptr) continue;
    if (duty) row->duty_percent = duty;
    if (hbm) row->hbm = hbm;
  }
  return rows;
}

}  // namespace jobman::remote
