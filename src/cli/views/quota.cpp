#include "cli/views/quota.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "cli/views/words.hpp"
#include "cli/wrapping.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/ui/table.hpp"

namespace jobman::cli::views {
namespace {

using client::QuotaRow;
using ports::TpuLimit;

std::string PricingOfRow(const QuotaRow& row) {
  return row.counts ? std::string(core::PricingName(row.counts->pricing)) : "-";
}

std::string LimitText(const TpuLimit& limit) {
  if (limit.unlimited) return "none";
  return limit.limit ? std::to_string(*limit.limit) : "-";
}

/// Red where nothing more can be had.
ui::Tone ToneOfHeld(const QuotaRow& row) {
  const bool full = row.limit.limit && row.held.value_or(0) > 0 && *row.held >= *row.limit.limit;
  return full ? ui::Tone::kBad : ui::Tone::kPlain;
}

/// Without rows. What is not known is told below, and must not be called none.
std::string NothingToShow(const client::QuotaAnswer& answer) {
  if (answer.no_limits && answer.no_nodes) return {};
  if (answer.no_limits) return "no nodes\n";
  return answer.no_nodes ? "no quota above 0\n" : "no quota above 0, and no nodes\n";
}

std::string QuotaTable(const Quota& view, const ui::Style& style) {
  ui::Table table({{.header = "TYPE", .flexible = 1},
                   {.header = "PRICING"},
                   {.header = "WHERE"},
                   {.header = "LIMIT", .right = true},
                   {.header = "HELD", .right = true},
                   {.header = "BY", .wraps = true}});
  for (const QuotaRow& row : view.answer.tpus) {
    const std::string held = row.held ? std::to_string(*row.held) : "-";
    table.AddRow({WhatIsCounted(row), PricingOfRow(row), WhereItCounts(row.limit),
                  LimitText(row.limit), ui::Cell(held, ToneOfHeld(row)),
                  OrDash(HoldersText(row.holders))});
  }
  for (const client::AddressRow& row : view.answer.addresses) {
    if (!row.quota) continue;
    table.AddRow({"addresses", "-", row.region, fmt::format("{:.0f}", row.quota->limit),
                  fmt::format("{:.0f}", row.quota->usage), "-"});
  }
  return table.empty() ? NothingToShow(view.answer) : table.Render(style);
}

/// "limits are not known: WHY", and below it what to do.
std::string Unknown(const std::string& what, const base::Error& error) {
  const std::string cure = error.hint.empty() ? "" : "    " + error.hint + "\n";
  return what + ui::CleanLines(error.ToString()) + "\n" + ui::CleanLines(cure);
}

std::string NotesOfAddresses(const Quota& view) {
  std::string text;
  std::set<std::string> told;  // one cause for all regions is told once
  for (const client::AddressRow& row : view.answer.addresses) {
    if (row.refused && told.insert(row.refused->message).second)
      text += Unknown("addresses in " + row.region + " are not known: ", *row.refused);
  }
  return text;
}

std::string QuotaNotes(const Quota& view) {
  std::string text;
  if (!view.answer.tpus.empty())
    text += "LIMIT, HELD: TensorCores, the number in the name of a type (v4-32: 32)\n";
  if (view.answer.left_out > 0)
    text += base::Plural(view.answer.left_out, "limit") +
            " of 0, unlimited or not known left out; --all shows all\n";
  if (view.answer.no_limits) text += Unknown("limits are not known: ", *view.answer.no_limits);
  if (view.answer.no_nodes) text += Unknown("what is held is not known: ", *view.answer.no_nodes);
  return text + NotesOfAddresses(view);
}

}  // namespace

std::string WhatIsCounted(const QuotaRow& row) {
  if (row.counts) return core::TextOf(*row.counts);
  return row.limit.metric.substr(row.limit.metric.rfind('/') + 1);
}

std::string WhereItCounts(const TpuLimit& limit) {
  if (!limit.location.empty()) return limit.location;
  if (limit.scope == TpuLimit::Scope::kProject) return "the project";
  const std::string place = limit.scope == TpuLimit::Scope::kZone ? "zone" : "region";
  const auto others = static_cast<std::int64_t>(limit.locations.size());
  return others == 0 ? "other " + place + "s" : base::Plural(others, "other " + place);
}

std::string HoldersText(const std::vector<client::QuotaHolder>& holders) {
  std::vector<std::string> names;
  for (const client::QuotaHolder& holder : holders) {
    std::string name = holder.job ? core::FormatJobId(*holder.job) : holder.node;
    if (std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(std::move(name));
  }
  return base::Join(names, ", ");
}

std::string RenderText(const Quota& view, const ui::Style& style) {
  return QuotaTable(view, style) + WrapMessage(QuotaNotes(view), style.width);
}

std::string RenderQuiet(const Quota& view) {
  std::string text;
  for (const QuotaRow& row : view.answer.tpus) {
    if (row.limit.limit.value_or(0) <= 0 && !row.limit.unlimited) continue;
    const std::string pricing = row.counts ? " " + PricingOfRow(row) : "";
    text += WhatIsCounted(row) + pricing + " " + WhereItCounts(row.limit) + "\n";
  }
  return ui::CleanLines(text);
}

}  // namespace jobman::cli::views
