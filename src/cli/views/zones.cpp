#include "cli/views/zones.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "cli/views/error.hpp"
#include "cli/views/words.hpp"
#include "cli/wrapping.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/core/accelerators.hpp"
#include "jobman/ui/csv.hpp"
#include "jobman/ui/table.hpp"

namespace jobman::cli::views {
namespace {

using client::ZoneOffers;

bool IsGeneration(const std::string& type) {
  return !core::FindAccelerator(type).ok() && !core::ZonesWithPrice(type).empty();
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
    const core::HourPrices prices = PricesOf(view.type, row.zone);
    table.AddRow({row.zone, Dollars(view.type, prices.on_demand), Dollars(view.type, prices.spot),
                  RuntimeCount(row), AgeOfOffers(row, view.now),
                  ui::Cell(WhyRefused(row), ui::Tone::kBad)});
  }
  return table.Render(style);
}

/// Generations of the types, in the order of their names; only the wanted type, if there is one.
std::vector<std::string> Priced(const Zones& view, const ZoneOffers& row) {
  if (!view.type.empty()) return {view.type};
  std::set<std::string> generations;
  for (const std::string& type : row.types) generations.insert(core::GenerationOf(type));
  generations.erase("");
  return {generations.begin(), generations.end()};
}

/// "v4 3.22, spot 0.92; v5p 4.20, spot -"
std::string PriceText(const Zones& view, const ZoneOffers& row) {
  std::vector<std::string> parts;
  for (const std::string& type : Priced(view, row)) {
    const core::HourPrices prices = PricesOf(type, row.zone);
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
  const bool of_slice = !view.type.empty() && !IsGeneration(view.type);
  return fmt::format("{}: USD per {}hour at list price ({})\n",
                     view.details ? "prices" : "ON DEMAND, SPOT", of_slice ? "" : "chip and ",
                     core::kPriceList);
}

std::string SourceNote(const Zones& view) {
  if (view.not_asked.empty()) return {};
  return fmt::format("these are the built-in lists, as the cloud cannot be asked: {}\n",
                     ui::CleanLines(view.not_asked));
}

base::OrderedJson PricesJson(const core::HourPrices& prices) {
  const auto number = [](const std::optional<double>& price) {
    return price ? base::OrderedJson(*price) : base::OrderedJson();
  };
  return {{"on_demand", number(prices.on_demand)}, {"spot", number(prices.spot)}};
}

base::OrderedJson RowJson(const Zones& view, const ZoneOffers& row) {
  base::OrderedJson prices = base::OrderedJson::object();
  for (const std::string& type : Priced(view, row)) {
    prices[type] = PricesJson(PricesOf(type, row.zone));
  }
  return {{"zone", row.zone},
          {"types", row.types},
          {"runtimes", row.runtimes},
          {"prices", prices},
          {"asked_at", TimeJson(row.asked_at)},
          {"error", row.refused ? ToJson(*row.refused) : base::OrderedJson()}};
}

std::string CsvNumber(const std::optional<double>& price) {
  return price ? fmt::format("{:.5g}", *price) : std::string();
}

}  // namespace

std::string TypeRanges(const std::vector<std::string>& types) {
  std::map<std::string, std::map<std::int64_t, std::string>> sizes;  // by what comes before it
  for (const std::string& type : types) {
    const std::size_t dash = type.rfind('-');
    const bool sized = dash != std::string::npos;
    const auto size = sized ? base::ParseNumber(type.substr(dash + 1)) : std::nullopt;
    sizes[size ? type.substr(0, dash) : type][size.value_or(0)] = type;
  }
  std::vector<std::string> parts;
  for (const auto& [generation, of_it] : sizes) {
    if (of_it.size() > 2) {
      parts.push_back(
          fmt::format("{}..{} ({})", of_it.begin()->second, of_it.rbegin()->second, of_it.size()));
    } else {
      for (const auto& [size, type] : of_it) parts.push_back(type);
    }
  }
  return base::Join(parts, ", ");
}

core::HourPrices PricesOf(const std::string& type, const std::string& zone) {
  const auto accelerator = core::FindAccelerator(type);
  if (!accelerator.ok()) return core::ChipPrices(type, zone);
  core::HourPrices prices = core::ChipPrices(accelerator->generation, zone);
  if (prices.on_demand) *prices.on_demand *= accelerator->chips;
  if (prices.spot) *prices.spot *= accelerator->chips;
  return prices;
}

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

base::OrderedJson ToJson(const Zones& view) {
  base::OrderedJson zones = base::OrderedJson::array();
  for (const ZoneOffers& row : view.rows) zones.push_back(RowJson(view, row));
  const auto or_null = [](const std::string& text) {
    return text.empty() ? base::OrderedJson() : base::OrderedJson(text);
  };
  return {{"project", or_null(view.project)},
          {"source", view.not_asked.empty() ? "cloud" : "built-in"},
          {"not_asked", or_null(view.not_asked)},
          {"type", or_null(view.type)},
          {"price_list", core::kPriceList},
          {"zones", std::move(zones)}};
}

std::string RenderCsv(const Zones& view) {
  std::string text = ui::CsvLine({"zone", "type", "on_demand", "spot", "asked_at", "error"});
  for (const ZoneOffers& row : view.rows) {
    const std::string at = row.asked_at ? base::FormatRfc3339(*row.asked_at) : std::string();
    if (row.refused) text += ui::CsvLine({row.zone, "", "", "", at, row.refused->message});
    for (const std::string& type : row.types) {
      const core::HourPrices prices = PricesOf(type, row.zone);
      text += ui::CsvLine(
          {row.zone, type, CsvNumber(prices.on_demand), CsvNumber(prices.spot), at, ""});
    }
  }
  return text;
}

}  // namespace jobman::cli::views
