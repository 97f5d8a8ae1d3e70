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

std::string TaskText(const Explanations::OfTask& one, const ui::Style& style) {
  const std::string state(core::TaskStateName(one.row.state));
  std::string text = fmt::format("task {}: {}\n", ui::Clean(one.row.task.definition.id, style.utf8),
                                 ui::Paint(ToneOfState(state), state, style));
  text += Line("because", one.row.why, style);
  for (const std::string& fact : one.facts) text += Line("fact", fact, style);
  text += Line("next", one.next_step, style);
  return text + (one.words ? WordsText(*one.words, style) : "");
}

/// With what a host wrote last, where that is known.
std::vector<std::string> FactsWith(std::vector<std::string> facts,
                                   const std::optional<client::LastWords>& words) {
  if (!words) return facts;
  facts.push_back(HeadOf(*words));
  for (const std::string& line : words->lines) facts.push_back("  " + line);
  return facts;
}

base::OrderedJson TaskJson(const Explanations::OfTask& one) {
  base::OrderedJson json = ToJson(one.row);
  json["facts"] = FactsWith(one.facts, one.words);
  json["next_step"] = one.next_step;
  return json;
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
  for (const Explanations::OfTask& one : view.tasks) text += TaskText(one, style);
  return text;
}

std::string RenderQuiet(const Explanations& view) {
  std::string text;
  for (const auto& row : view.rows) text += ui::Clean(row.why.because, false) + "\n";
  for (const auto& one : view.tasks) text += ui::Clean(one.row.why, false) + "\n";
  return text;
}

base::OrderedJson ToJson(const Explanations& view) {
  base::OrderedJson jobs = base::OrderedJson::array();
  for (const auto& [id, name, why, words, ways_on] : view.rows) {
    jobs.push_back({{"id", id.value},
                    {"name", name},
                    {"state", why.state},
                    {"status", why.status},
                    {"because", why.because},
                    {"facts", FactsWith(why.facts, words)},
                    {"waits_for", why.waits_for},
                    {"next_step", why.next_step}});
  }
  base::OrderedJson json = {{"jobs", std::move(jobs)}};
  for (const Explanations::OfTask& one : view.tasks) json["tasks"].push_back(TaskJson(one));
  return json;
}

}  // namespace jobman::cli::views
