#include "cli/views/copying.hpp"

#include <fmt/format.h>

#include <vector>

#include "jobman/base/strings.hpp"
#include "jobman/ui/folding.hpp"

namespace jobman::cli::views {
namespace {

constexpr std::chrono::seconds kRecent{8};
constexpr double kLongestLeft = 100.0 * 24 * 60 * 60;  // seconds; more is no forecast

/// "58s left"; empty if it cannot be told.
std::string TimeLeft(const client::CopyState& state, double rate) {
  if (state.total <= state.bytes || rate < 1) return {};
  const double seconds = static_cast<double>(state.total - state.bytes) / rate;
  if (seconds > kLongestLeft) return {};
  return base::FormatDuration(std::chrono::seconds{static_cast<std::int64_t>(seconds) + 1}) +
         " left";
}

/// "2 hosts", if that is all, "host 3 (1 of 8)", "hosts 17-18 (2 of 1024)"; of many only how many.
std::string Awaited(const client::CopyState& state) {
  constexpr std::size_t kMostNumbers = 24;  // characters
  if (state.hosts == 1) return ui::HostsLabel(state.busy);
  if (std::ssize(state.busy) == state.hosts) return fmt::format("{} hosts", state.hosts);
  const std::string numbers = base::FormatRanges(state.busy);
  const std::string count = fmt::format("{} of {}", state.busy.size(), state.hosts);
  if (numbers.size() > kMostNumbers) return count + " hosts";
  return fmt::format("host{} {} ({})", state.busy.size() == 1 ? "" : "s", numbers, count);
}

}  // namespace

void RecentRate::Add(Time now, std::int64_t bytes) {
  if (!seen_.empty() && bytes < seen_.back().second) seen_.clear();
  seen_.emplace_back(now, bytes);
  while (seen_.size() > 2 && now - seen_[1].first >= kRecent) seen_.pop_front();
}

double RecentRate::PerSecond() const {
  if (seen_.size() < 2) return 0;
  const std::chrono::duration<double> past = seen_.back().first - seen_.front().first;
  if (past.count() <= 0) return 0;
  return static_cast<double>(seen_.back().second - seen_.front().second) / past.count();
}

std::string CopyingText(const client::CopyState& state, double rate, base::Duration past) {
  if (state.busy.empty()) return {};
  std::vector<std::string> facts;
  if (state.bytes > 0) {
    // The total is an estimate: what is beyond it is not shown as more than all.
    facts.push_back(base::FormatBytes(state.bytes) +
                    (state.total > state.bytes ? " of " + base::FormatBytes(state.total) : ""));
  }
  if (rate >= 1) facts.push_back(base::FormatBytes(static_cast<std::int64_t>(rate)) + "/s");
  if (const std::string left = TimeLeft(state, rate); !left.empty())
    return base::Join(facts, ", ") + "; " + left + " for " + Awaited(state);
  const std::string waiting =
      fmt::format("waiting {} for {}", base::FormatDuration(past), Awaited(state));
  return facts.empty() ? waiting : base::Join(facts, ", ") + "; " + waiting;
}

}  // namespace jobman::cli::views
