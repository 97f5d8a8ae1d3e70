#include "cli/views/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "cli/wrapping.hpp"
#include "jobman/base/clean.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/core/spec_json.hpp"

namespace jobman::cli::views {

ui::Tone ToneOfState(std::string_view state) {
  if (state == "RUNNING" || state == "SUCCEEDED" || state == "DONE") return ui::Tone::kGood;
  if (state == "FAILED") return ui::Tone::kBad;
  if (state == "CANCELLED" || state == "DELETED" || state == "REMOVED") return ui::Tone::kDim;
  if (state == "QUEUED" || state == "WAITING" || state == "BACKOFF" || state == "BLOCKED")
    return ui::Tone::kBusy;
  return ui::Tone::kMoves;
}

std::string StatusText(std::string_view state, std::string_view familiar) {
  if (familiar.empty() || familiar == state) return std::string(state);
  std::string text;
  text.reserve(state.size() + familiar.size() + 3);  // a list has thousands of them
  text.append(state).append(" (").append(familiar).append(")");
  return text;
}

std::string Ago(core::TimePoint since, core::TimePoint now) {
  return base::FormatDuration(std::max(now - since, base::Duration{0}));
}

std::string LabelledLine(std::string_view label, std::string_view text, int indent, ui::Tone tone,
                         const ui::Style& style) {
  const std::string name = fmt::format("{:<9}  ", label);
  const int column = indent + ui::DisplayWidth(name);
  const std::string lines = WrapText(ui::Clean(text, style.utf8), column, column, style.width);
  return ui::Paint(ui::Tone::kDim, name, style) + ui::Paint(tone, lines, style) + "\n";
}

std::string StateLine(const std::string& head, std::string_view state, ui::Tone tone,
                      std::string_view why, const ui::Style& style) {
  const int column = ui::DisplayWidth(head) + ui::DisplayWidth(state) + 2;
  const std::string text = WrapText(ui::Clean(why, true), column, kFurtherIn, style.width);
  return head + ui::Paint(tone, state, style) + ": " + text + "\n";
}

std::string OrDash(std::string text) {
  if (text.empty()) return "-";
  return text;  // not in a conditional expression, which copies it
}

base::OrderedJson TimeJson(const std::optional<core::TimePoint>& time) {
  return time ? base::OrderedJson(base::FormatRfc3339(*time)) : base::OrderedJson();
}

base::OrderedJson PriceListsJson(const std::vector<core::PriceSource>& sources) {
  base::OrderedJson lists = base::OrderedJson::array();
  for (const core::PriceSource& source : sources)
    lists.push_back({{"name", source.name}, {"date", source.date}});
  return lists;
}

std::string FirstLine(std::string_view text) {
  const std::vector<std::string> lines = base::Split(base::Trim(text), '\n');
  if (lines.empty()) return {};
  auto first = std::find_if(lines.begin(), lines.end(), [](const std::string& line) {
    const std::string_view words = base::Trim(line);
    return !words.empty() && words.front() != '#';
  });
  if (first == lines.end()) first = lines.begin();
  return std::string(base::Trim(*first)) + (lines.size() > 1 ? " ..." : "");
}

std::string CodeText(const core::CodeSpec& code) {
  constexpr std::size_t kCommitShown = 12;
  const core::CodeSnapshot& taken = code.snapshot;
  std::string text = code.dir.empty() ? code.git : code.dir;
  if (!code.ref.empty()) text += " at " + code.ref;
  text +=
      fmt::format(", {}, {}", base::Plural(taken.files, "file"), base::FormatBytes(taken.packed));
  if (!taken.commit.empty()) text += ", commit " + taken.commit.substr(0, kCommitShown);
  if (taken.changed) text += " with changes";
  return base::CleanLine(text);
}

base::OrderedJson CodeJson(const core::CodeSpec& code) {
  core::JobSpec spec;
  spec.code = code;
  return core::SpecToJson(spec)["code"];
}

}  // namespace jobman::cli::views
