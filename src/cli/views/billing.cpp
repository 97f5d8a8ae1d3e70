#include "cli/views/billing.hpp"

#include <fmt/format.h>

#include "cli/views/words.hpp"
#include "cli/wrapping.hpp"
#include "jobman/base/time.hpp"
#include "jobman/ui/csv.hpp"
#include "jobman/ui/table.hpp"

namespace jobman::cli::views {
namespace {

using base::OrderedJson;
using ports::BilledDay;
using BillingBy = ports::BillingQuestion::By;

std::string WordOfBilling(BillingBy by) {
  switch (by) {
    case BillingBy::kSku:
      return "sku";
    case BillingBy::kService:
      return "service";
    case BillingBy::kDay:
      return "day";
  }
  return {};
}

std::string MoneyText(double cost) {
  return fmt::format("{:.2f}", cost);
}

ui::Table TableFor(BillingBy by) {
  std::vector<ui::Column> columns = {{.header = "DAY"}};
  if (by == BillingBy::kSku) columns.push_back({.header = "SKU", .flexible = 1});
  if (by == BillingBy::kService) columns.push_back({.header = "SERVICE", .flexible = 1});
  columns.push_back({.header = "COST", .right = true});
  columns.push_back({.header = "CURRENCY"});
  return ui::Table(std::move(columns));
}

std::vector<ui::Cell> CellsOf(BillingBy by, const std::string& day, const std::string& what,
                              double cost, const std::string& currency) {
  std::vector<ui::Cell> cells = {day};
  if (by != BillingBy::kDay) cells.emplace_back(what);
  cells.emplace_back(MoneyText(cost));
  cells.emplace_back(OrDash(currency));
  return cells;
}

std::string BillingNotes(const Billing& view) {
  const std::string whose =
      view.question.project.empty() ? "every project" : "project " + view.question.project;
  std::string text = "billed to " + whose + " since " +
                     base::FormatRfc3339(view.question.from).substr(0, 10) +
                     " (UTC), after credits; the last days may be incomplete\n";
  if (view.answer.more)
    text += "there are more rows, so there is no total: ask for fewer days, or --by day\n";
  return text;
}

}  // namespace

std::map<std::string, double> TotalsOf(const Billing& view) {
  std::map<std::string, double> totals;
  if (view.answer.more) return totals;
  for (const BilledDay& row : view.answer.rows) totals[row.currency] += row.cost;
  return totals;
}

std::string RenderText(const Billing& view, const ui::Style& style) {
  const BillingBy by = view.question.by;
  ui::Table table = TableFor(by);
  for (const BilledDay& row : view.answer.rows)
    table.AddRow(CellsOf(by, row.day, OrDash(row.what), row.cost, row.currency));
  for (const auto& [currency, sum] : TotalsOf(view))
    table.AddRow(CellsOf(by, "total", "", sum, currency));
  const std::string rows = table.empty() ? "nothing is billed\n" : table.Render(style);
  return rows + WrapMessage(BillingNotes(view), style.width);
}

std::string RenderQuiet(const Billing& view) {
  std::string text;
  for (const auto& [currency, sum] : TotalsOf(view))
    text += fmt::format("{:.2f} {}\n", sum, currency);
  return ui::CleanLines(text);
}

OrderedJson ToJson(const Billing& view) {
  const BillingBy by = view.question.by;
  OrderedJson rows = OrderedJson::array();
  for (const BilledDay& row : view.answer.rows) {
    OrderedJson json = {{"day", row.day}};
    if (by != BillingBy::kDay) json[WordOfBilling(by)] = row.what;
    json["cost"] = row.cost;
    json["currency"] = row.currency;
    rows.push_back(std::move(json));
  }
  OrderedJson totals = OrderedJson::array();
  for (const auto& [currency, sum] : TotalsOf(view))
    totals.push_back({{"currency", currency}, {"cost", sum}});
  const std::string& project = view.question.project;
  return {{"table", view.question.table},
          {"project", project.empty() ? OrderedJson() : OrderedJson(project)},
          {"since", TimeJson(view.question.from)},
          {"by", WordOfBilling(by)},
          {"rows", std::move(rows)},
          {"totals", std::move(totals)},
          {"more", view.answer.more}};
}

std::string RenderCsv(const Billing& view) {
  const BillingBy by = view.question.by;
  const auto line = [by](const std::string& day, const std::string& what, const std::string& cost,
                         const std::string& currency) {
    if (by == BillingBy::kDay) return ui::CsvLine({day, cost, currency});
    return ui::CsvLine({day, what, cost, currency});
  };
  std::string text = line("day", WordOfBilling(by), "cost", "currency");
  for (const BilledDay& row : view.answer.rows)
    text += line(row.day, row.what, fmt::format("{}", row.cost), row.currency);
  return text;
}

}  // namespace jobman::cli::views
