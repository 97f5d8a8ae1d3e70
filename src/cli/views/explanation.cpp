#include "cli/views/explanation.hpp"

#include <fmt/format.h>

#include "cli/views/words.hpp"

namespace jobman::cli::views {
namespace {

/// Where the texts of Line() begin.
constexpr int kTextColumn = 13;

std::string Line(std::string_view label, const std::string& text, const ui::Style& style) {
  if (text.empty()) return {};
  return "  " + LabelledLine(label, text, 2, ui::Tone::kPlain, style);
}

std::string HeadOf(const client::LastWords& words) {
  return fmt::format("host {} wrote last in {}:", words.host, words.stage);
}

std::string WordsText(const client::LastWords& words, const ui::Style& style) {
  std::string text = "  " + ui::Paint(ui::Tone::kDim, HeadOf(words), style) + "\n";
  for (const std::string& line : words.lines) text += "    " + ui::Clean(line, style.utf8) + "\n";
  return text;
}

}  // namespace

std::string RenderText(const Explanations& view, const ui::Style& style) {
  std::string text;
  for (const auto& [id, name, why, words, ways_on] : view.rows) {
    text += fmt::format("{} {}: {}\n", core::FormatJobId(id), ui::Clean(name, style.utf8),
                        ui::Paint(ToneOfState(why.status), why.status, style));
    text += Line("because", why.because, style);
    for (const std::string& fact : why.facts) text += Line("fact", fact, style);
    text += Line("waits for", why.waits_for, style);
    text += Line("next", why.next_step, style);
    if (ways_on) text += RenderCommands(*ways_on, kTextColumn, style);
    if (words) text += WordsText(*words, style);
  }
  return text;
}

std::string RenderQuiet(const Explanations& view) {
  std::string text;
  for (const auto& row : view.rows) text += ui::Clean(row.why.because, false) + "\n";
  return text;
}

base::OrderedJson ToJson(const Explanations& view) {
  base::OrderedJson jobs = base::OrderedJson::array();
  for (const auto& [id, name, why, words, ways_on] : view.rows) {
    std::vector<std::string> facts = why.facts;
    if (words) {
      facts.push_back(HeadOf(*words));
      for (const std::string& line : words->lines) facts.push_back("  " + line);
    }
    jobs.push_back({{"id", id.value},
                    {"name", name},
                    {"state", why.state},
                    {"status", why.status},
                    {"because", why.because},
                    {"facts", facts},
                    {"waits_for", why.waits_for},
                    {"next_step", why.next_step}});
  }
  return {{"jobs", std::move(jobs)}};
}

}  // namespace jobman::cli::views
