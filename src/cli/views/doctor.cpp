#include "cli/views/doctor.hpp"

#include <fmt/format.h>

#include "cli/wrapping.hpp"

namespace jobman::cli::views {
namespace {

using client::Finding;

constexpr int kFoundColumn = 24;

struct Mark {
  const char* text = "";
  ui::Tone tone = ui::Tone::kPlain;
};

Mark MarkOf(client::Verdict verdict) {
  switch (verdict) {
    case client::Verdict::kOk:
      return {"ok", ui::Tone::kGood};
    case client::Verdict::kWarning:
      return {"warn", ui::Tone::kBusy};
    case client::Verdict::kFailed:
      return {"FAIL", ui::Tone::kBad};
    case client::Verdict::kSkipped:
      return {"skipped", ui::Tone::kDim};
  }
  return {};
}

/// Below itself, between the column and the edge.
std::string Beside(const std::string& text, const ui::Style& style) {
  return WrapText(ui::Clean(text, style.utf8), kFoundColumn, kFoundColumn, style.width);
}

}  // namespace

std::string RenderText(const Finding& finding, const ui::Style& style) {
  const Mark mark = MarkOf(finding.result);
  std::string text = ui::Paint(mark.tone, fmt::format("{:<9}", mark.text), style) +
                     fmt::format("{:<15}", finding.check) + Beside(finding.found, style) + "\n";
  if (finding.cure.empty()) return text;
  return text + std::string(kFoundColumn, ' ') + Beside(finding.cure, style) + "\n";
}

std::string RenderText(const Diagnosis& view, const ui::Style& style) {
  std::string text;
  for (const Finding& finding : view.findings) text += RenderText(finding, style);
  return text;
}

std::string RenderQuiet(const Diagnosis& view) {
  std::string text;
  for (const Finding& finding : view.findings) {
    if (finding.result == client::Verdict::kFailed) text += finding.check + "\n";
  }
  return text;
}

base::OrderedJson ToJson(const Diagnosis& view) {
  base::OrderedJson json = base::OrderedJson::array();
  for (const Finding& finding : view.findings) {
    json.push_back({{"check", finding.check},
                    {"result", VerdictName(finding.result)},
                    {"found", finding.found},
                    {"cure", finding.cure}});
  }
  return json;
}

}  // namespace jobman::cli::views
