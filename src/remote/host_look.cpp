#include <algorithm>
#include <charconv>
#include <utility>

#include "jobman/base/clean.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/remote/top_script.hpp"

namespace jobman::remote {
namespace {

constexpr std::string_view kMark = "jobman-top ";
constexpr std::size_t kLongestLine = 4096;
constexpr std::size_t kMostUnread = std::size_t{1} << 20;
constexpr std::size_t kMostChips = 64;
constexpr std::size_t kMostHolders = 64;
constexpr std::size_t kMostInfoLines = 256;
constexpr std::size_t kLongestUser = 64;
constexpr std::size_t kLongestDevice = 200;
constexpr std::size_t kLongestCommand = 120;  // as the script has it
constexpr std::size_t kLongestStray = 120;
constexpr std::int64_t kMostKib = std::int64_t{1} << 50;  // in bytes it still is a number
constexpr std::int64_t kMostCpus = 65536;
constexpr double kMostLoad = 1e6;
constexpr std::int64_t kKib = 1024;

std::string Short(std::string_view text, std::size_t most) {
  return base::Shorten(base::CleanLine(text.substr(0, 4 * most)), most);
}

/// The first word of the text, which then begins behind it.
std::string_view TakeFirst(std::string_view& text) {
  const std::size_t end = std::min(text.find(' '), text.size());
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return word;
}

/// "USED TOTAL" in KiB.
std::optional<Amount> ParseKib(std::string_view text) {
  const auto used = base::ParseNumber(TakeFirst(text));
  const auto total = base::ParseNumber(text);
  if (!used || !total || *used > kMostKib || *total <= 0 || *total > kMostKib) return std::nullopt;
  return Amount{.used = *used * kKib, .total = *total * kKib};
}

std::optional<double> ParseLoad(std::string_view text) {
  double load = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, load, std::chars_format::fixed);
  // Written so that NaN is refused.
  if (problem != std::errc() || stop != end || !(load >= 0 && load <= kMostLoad))
    return std::nullopt;
  return load;
}

std::optional<double> ParseCpu(std::string_view text) {
  const auto busy = base::ParseNumber(TakeFirst(text));
  const auto total = base::ParseNumber(text);
  // A counter that went back (a guest that was moved) is no number.
  if (!busy || !total || *total <= 0 || *busy > *total) return std::nullopt;
  return 100.0 * static_cast<double>(*busy) / static_cast<double>(*total);
}

/// Which of the rows belong to the chip: one to one, or two cores to a chip.
std::vector<TpuUse> RowsOfChip(const std::vector<TpuUse>& rows, std::size_t chip,
                               std::size_t chips) {
  if (rows.size() == chips) return {rows[chip]};
  if (rows.size() == 2 * chips) return {rows[2 * chip], rows[2 * chip + 1]};
  return {};
}

std::optional<double> MeanDuty(const std::vector<TpuUse>& rows) {
  double sum = 0;
  int count = 0;
  for (const TpuUse& row : rows) {
    if (!row.duty_percent) continue;
    sum += *row.duty_percent;
    ++count;
  }
  return count == 0 ? std::nullopt : std::optional(sum / count);
}

std::optional<Amount> SumOfHbm(const std::vector<TpuUse>& rows) {
  std::optional<Amount> sum;
  for (const TpuUse& row : rows) {
    if (!row.hbm) continue;
    if (!sum) sum.emplace();
    sum->used += row.hbm->used;
    sum->total += row.hbm->total;
  }
  return sum;
}

}  // namespace

base::Result<std::optional<HostLook>> HostLookReader::Take(std::string_view piece) {
  done_.reset();
  unread_ += piece.size();
  while (!piece.empty()) {
    const std::size_t end = std::min(piece.find('\n'), piece.size());
    const std::size_t room = kLongestLine - line_.size();
    line_ += piece.substr(0, std::min(end, room));
    if (end == piece.size()) break;
    piece.remove_prefix(end + 1);
    const std::string line = std::exchange(line_, {});
    TakeLine(line);
    if (done_) unread_ = piece.size();
  }
  if (unread_ > kMostUnread && !done_) {
    return base::Error{.code = base::Code::kDataLoss,
                       .message = "the host prints something else without end" +
                                  (stray_.empty() ? std::string() : ": '" + stray_ + "'"),
                       .hint = "check what the host's login shell prints"};
  }
  return std::exchange(done_, std::nullopt);
}

void HostLookReader::TakeLine(std::string_view line) {
  if (!line.starts_with(kMark)) {
    if (stray_.empty()) stray_ = Short(base::Trim(line), kLongestStray);
    return;
  }
  line.remove_prefix(kMark.size());
  if (line.ends_with('\r')) line.remove_suffix(1);
  const std::string_view word = TakeFirst(line);
  if (word == "begin") {
    begun_ = HostLook{};
    info_.clear();
  } else if (begun_ && word == "end") {
    End();
  } else if (begun_) {
    TakeWord(word, line);
  }
}

void HostLookReader::TakeWord(std::string_view word, std::string_view rest) {
  HostLook& look = *begun_;
  if (word == "cpus") {
    const auto cpus = base::ParseNumber(rest);
    if (cpus && *cpus <= kMostCpus) look.cpus = static_cast<int>(*cpus);
  } else if (word == "load") {
    look.load = ParseLoad(rest);
  } else if (word == "cpu") {
    look.cpu_percent = ParseCpu(rest);
  } else if (word == "memory") {
    look.memory = ParseKib(rest);
  } else if (word == "disk") {
    const std::string_view which = TakeFirst(rest);
    if (which == "root") look.root_disk = ParseKib(rest);
    if (which == "home") look.home_disk = ParseKib(rest);
  } else if (word == "chip") {
    if (look.chips.size() < kMostChips && !rest.empty())
      look.chips.push_back({.device = Short(rest, kLongestDevice)});
  } else if (word == "holder") {
    AddHolder(rest);
  } else if (word == "sees") {
    look.sees_all = rest != "own";
  } else if (word == "tpu-info") {
    if (rest == "there") look.tpu_info = HostLook::TpuInfo::kSilent;
  } else if (word == "says") {
    if (info_.size() < kMostInfoLines) info_.emplace_back(rest);
  }
}

/// "DEVICE PID USER COMMAND" of a chip that was named before.
void HostLookReader::AddHolder(std::string_view text) {
  const std::string device = Short(TakeFirst(text), kLongestDevice);
  const auto pid = base::ParseNumber(TakeFirst(text));
  const std::string_view user = TakeFirst(text);
  if (!pid || user.empty()) return;
  std::size_t held = 0;
  for (const Chip& chip : begun_->chips) held += chip.holders.size();
  if (held >= kMostHolders) return;
  for (Chip& chip : begun_->chips) {
    if (chip.device != device) continue;
    chip.holders.push_back({.pid = *pid,
                            .user = Short(user, kLongestUser),
                            .command = Short(base::Trim(text), kLongestCommand)});
    return;
  }
}

void HostLookReader::End() {
  HostLook& look = *begun_;
  const std::vector<TpuUse> rows = ReadTpuInfo(info_);
  if (!rows.empty()) look.tpu_info = HostLook::TpuInfo::kSays;
  look.duty_percent = MeanDuty(rows);
  look.hbm = SumOfHbm(rows);
  for (std::size_t chip = 0; chip < look.chips.size(); ++chip) {
    const auto own = RowsOfChip(rows, chip, look.chips.size());
    look.chips[chip].duty_percent = MeanDuty(own);
    look.chips[chip].hbm = SumOfHbm(own);
  }
  done_ = std::exchange(begun_, std::nullopt);
  info_.clear();
}

}  // namespace jobman::remote
