#include "cli/views/explanation.hpp"

#include <fmt/format.h>

#include "cli/views/words.hpp"

namespace jobman::cli::views {
namespace {

std::string Line(std::string_view label, const std::string& text, const ui::Style& style) {
  if (text.empty()) return {};
  return fmt::format("  {}  {}\n", ui::Paint(ui::Tone::kDim, fmt::format("{:<9}", label), style),
                     ui::Clean(text, style.utf8));
}

}  // namespace

std::string RenderText(const Explanations& view, const ui::Style& style) {
  std::string text;
  for (const auto& [id, name, why] : view.rows) {
    text += fmt::format("{} {}: {}\n", core::FormatJobId(id), ui::Clean(name, style.utf8),
                        ui::Paint(ToneOfState(why.state), why.state, style));
    text += Line("because", why.because, style);
    for (const std::string& fact : why.facts) text += Line("fact", fact, style);
    text += Line("waits for", why.waits_for, style);
    text += Line("next", why.next_step, style);
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
  for (const auto& [id, name, why] : view.rows) {
    jobs.push_back({{"id", id.value},
                    {"name", name},
                    {"state", why.state},
                    {"because", why.because},
                    {"facts", why.facts},
                    {"waits_for", why.waits_for},
                    {"next_step", why.next_step}});
  }
  return {{"jobs", std::move(jobs)}};
}

}  // namespace jobman::cli::views
