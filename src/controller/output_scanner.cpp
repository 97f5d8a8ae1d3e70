#include "controller/output_scanner.hpp"

#include <algorithm>

#include "jobman/base/log.hpp"
#include "jobman/base/strings.hpp"

namespace jobman::controller {
namespace {

constexpr std::size_t kShown = 200;

/// The line for `why`, the history and an environment variable.
std::string FitToShow(std::string_view line) {
  std::string text = base::Shorten(base::Trim(line), kShown);
  std::replace_if(
      text.begin(), text.end(),
      [](char c) { return static_cast<unsigned char>(c) < 32 || c == 127; }, '?');
  return text;
}

}  // namespace

std::shared_ptr<const OutputRules> CompileRules(const std::vector<core::OutputRule>& rules) {
  if (rules.empty()) return nullptr;
  auto compiled = std::make_shared<OutputRules>();
  for (const core::OutputRule& rule : rules) {
    auto regex = base::Regex::Compile(rule.match);
    if (!regex.ok()) {
      base::Log(base::LogLevel::kError, "watchdog", "{}", regex.error().ToString());
    }
    compiled->push_back(regex.ok() ? std::optional(std::move(regex).value()) : std::nullopt);
  }
  return compiled;
}

void OutputScanner::Take(std::string_view bytes) {
  taken_ += static_cast<std::int64_t>(bytes.size());
  while (!matched_ && !bytes.empty()) {
    const std::size_t end = bytes.find_first_of("\n\r");
    if (end == std::string_view::npos) return Add(bytes);
    if (begun_.empty()) {
      Judge(bytes.substr(0, std::min(end, kLongestLine)));
    } else {
      Add(bytes.substr(0, end));
      Judge(begun_);
      begun_.clear();
    }
    bytes.remove_prefix(end + 1);
    if (!matched_) scanned_ = taken_ - static_cast<std::int64_t>(bytes.size());
  }
}

void OutputScanner::Skip(base::FileGap gap) {
  if (taken_ < gap.begin || taken_ >= gap.end) return;
  begun_.clear();
  taken_ = gap.end;
  if (!matched_) scanned_ = taken_;
}

void OutputScanner::End() {
  if (!matched_ && !begun_.empty()) Judge(begun_);
  begun_.clear();
}

void OutputScanner::Add(std::string_view part) {
  begun_.append(part.substr(0, kLongestLine - begun_.size()));
}

void OutputScanner::Judge(std::string_view line) {
  if (on_line_) on_line_(line);
  if (!rules_) return;
  for (std::size_t rule = 0; rule < rules_->size(); ++rule) {
    const auto& regex = (*rules_)[rule];
    if (!regex || !regex->Matches(line)) continue;
    matched_ = true;
    return on_match_(static_cast<int>(rule), FitToShow(line));
  }
}

}  // namespace jobman::controller
