#include "cli/views/zones.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/views/words.hpp"
#include "cli/wrapping.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/core/accelerators.hpp"
#include "jobman/ui/table.hpp"

namespace jobman::cli::views {
namespace {

using client::ZoneOffers;

bool IsGeneration(const Zones& view) {
  return !core::FindAccelerator(view.type).ok() &&
         !core::ZonesWithPrice(view.prices, view.type).empty();
}

/// Of a chip, list prices have up to five digits.
std::string Dollars(const std::string& type, const std::optional<double>& price) {
  if (!price) return "-";
  const bool of_slice = core::FindAccelerator(type).ok();
  return of_slice ? fmt::format("{:.2f}", *price) : fmt::format("{:.4f}", *price);
}

std::string AgeOfOffers(const ZoneOffers& row, core::TimePoint now) {
  return row.asked_at ? Ago(*row.asked_at, now) : "-";
}

std::string RuntimeCount(const ZoneOffers& row) {
  return row.refused ? "-" : std::to_string(row.runtimes.size());
}

std::string WhyRefused(const ZoneOffers& row) {
  return row.refused ? row.refused->message : std::string();
}

/// The types that were looked for.
std::string TableOfTypes(const Zones& view, const ui::Style& style) {
  ui::Table table({{.header = "ZONE"},
                   {.header = "RUNTIMES", .right = true},
                   {.header = "AGE", .right = true},
                   {.header = "TYPES", .wraps = true}});
  for (const ZoneOffers& row : view.rows) {
    const ui::Cell last = row.refused ? ui::Cell(row.refused->message, ui::Tone::kBad)
                                      : ui::Cell(TypeRanges(row.types));
    table.AddRow({row.zone, RuntimeCount(row), AgeOfOffers(row, view.now), last});
  }
  return table.Render(style);
}

std::string TableOfPrices(const Zones& view, const ui::Style& style) {
  std::vector<ui::Column> columns = {{.header = "ZONE"},
                                     {.header = "ON DEMAND", .right = true},
                                     {.header = "SPOT", .right = true},
                                     {.header = "RUNTIMES", .right = true},
                                     {.header = "AGE", .right = true}};
  const bool refused = std::any_of(view.rows.begin(), view.rows.end(),
                                   [](const ZoneOffers& row) { return row.refused.has_value(); });
  if (refused) columns.push_back({.header = "WHY", .wraps = true});
  ui::Table table(std::move(columns));
  for (const ZoneOffers& row : view.rows) {
    const core::HourPrices prices = PricesOf(view.prices, view.type, row.zone);
    table.AddRow({row.zone, Dollars(view.type, prices.on_demand), Dollars(view.type, prices.spot),
                  RuntimeCount(row), AgeOfOffers(row, view.now),
                  ui::Cell(WhyRefused(row), ui::Tone::kBad)});
  }
  return table.Render(style);
}

/// "v4 3.22, spot 0.92; v5p 4.20, spot -"
std::string PriceText(const Zones& view, const ZoneOffers& row) {
  std::vector<std::string> parts;
  for (const std::string& type : PricedIn(view, row)) {
    const core::HourPrices prices = PricesOf(view.prices, type, row.zone);
    parts.push_back(fmt::format("{} {}, spot {}", type, Dollars(type, prices.on_demand),
                                Dollars(type, prices.spot)));
  }
  return base::Join(parts, "; ");
}

std::string Paragraph(const Zones& view, const ZoneOffers& row, const ui::Style& style) {
  constexpr int kIndent = 2;
  std::string text = ui::Clean(row.zone, style.utf8) + "\n";
  const auto add = [&](std::string_view label, const std::string& line, ui::Tone tone) {
    if (!line.empty()) text += "  " + LabelledLine(label, line, kIndent, tone, style);
  };
  add("refused", WhyRefused(row), ui::Tone::kBad);
  add("types", base::Join(row.types, ", "), ui::Tone::kPlain);
  add("runtimes", base::Join(row.runtimes, ", "), ui::Tone::kPlain);
  add("prices", PriceText(view, row), ui::Tone::kPlain);
  if (row.asked_at) add("asked", Ago(*row.asked_at, view.now) + " ago", ui::Tone::kDim);
  return text;
}

std::string Paragraphs(const Zones& view, const ui::Style& style) {
  std::string text;
  for (const ZoneOffers& row : view.rows) text += Paragraph(view, row, style);
  return text;
}

/// What an hour's price is of.
std::string PriceNote(const Zones& view) {
  if (view.type.empty() && !view.details) return {};
  const bool of_slice = !view.type.empty() && !IsGeneration(view);
  return fmt::format("{}: USD per {}hour at list price ({})\n",
                     view.details ? "prices" : "ON DEMAND, SPOT", of_slice ? "" : "chip and ",
                     core::SourcesText(view.prices.sources));
}

std::string SourceNote(const Zones& view) {
  if (view.not_asked.empty()) return {};
  return fmt::format("these are the built-in lists, as the cloud cannot be asked: {}\n",
                     ui::CleanLines(view.not_asked));
}

}  // namespace

std::string RenderText(const Zones& view, const ui::Style& style) {
  std::string text;
  if (view.details) {
    text = Paragraphs(view, style);
  } else {
    text = view.type.empty() ? TableOfTypes(view, style) : TableOfPrices(view, style);
  }
  const std::string notes = PriceNote(view) + SourceNote(view);
  return text + WrapMessage(notes, style.width);
}

std::string RenderQuiet(const Zones& view) {
  std::string text;
  for (const ZoneOffers& row : view.rows) {
    if (!row.refused) text += row.zone + "\n";
  }
  return text;
}

}  // namespace jobman::cli::views
