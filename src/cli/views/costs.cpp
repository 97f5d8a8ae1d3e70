#include "cli/views/costs.hpp"

#include <fmt/format.h>

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cli/views/cost_sums.hpp"
#include "cli/views/words.hpp"
#include "cli/wrapping.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/core/prices.hpp"
#include "jobman/ui/table.hpp"

namespace jobman::cli::views {
namespace {

std::string GroupHead(Costs::By by) {
  if (by == Costs::By::kDay) return "DAY (UTC)";
  return by == Costs::By::kUser ? "USER" : "ZONE";
}

std::string Money(const std::optional<double>& dollars, bool complete) {
  if (!dollars) return "-";
  return fmt::format("{:.2f}{}", *dollars, complete ? "" : "+");
}

/// "71%": of what the times with both prices would cost on demand.
std::string SavedText(const CostSum& sum) {
  const auto saved = sum.Saved();
  return saved ? fmt::format("{:.0f}%", *saved / sum.compared * 100) : "-";
}

void AddMoneyColumns(std::vector<ui::Column>& columns, bool compares) {
  columns.push_back({.header = "HELD", .right = true});
  columns.push_back({.header = "USD", .right = true});
  if (!compares) return;
  columns.push_back({.header = "ON DEMAND", .right = true, .drop = 2});
  columns.push_back({.header = "SAVED", .right = true});
}

void AddMoney(std::vector<ui::Cell>& row, const CostSum& sum) {
  row.emplace_back(base::FormatDuration(sum.held));
  row.emplace_back(Money(sum.dollars, sum.complete));
  row.emplace_back(Money(sum.on_demand, sum.on_demand_complete));
  row.emplace_back(SavedText(sum));
}

std::string JobNumbers(const std::set<core::JobId>& jobs) {
  std::vector<std::string> numbers;
  for (const core::JobId id : jobs) numbers.push_back(core::FormatJobId(id));
  return (jobs.size() == 1 ? "job " : "jobs ") + base::Join(numbers, ", ");
}

std::string TableOfJobs(const Costs& view, const ui::Style& style) {
  std::vector<ui::Column> columns = {{.header = "JOB"},
                                     {.header = "NAME", .flexible = 1},
                                     {.header = "ACCELERATOR", .flexible = 2},
                                     {.header = "PRICING", .drop = 1},
                                     {.header = "ZONE", .flexible = 3, .enough = 16}};
  AddMoneyColumns(columns, DiffersFromOnDemand(view));
  ui::Table table(std::move(columns));
  for (const auto& [key, sum] : SumsOf(view)) {
    const core::TpuSpec& tpu = sum.last.tpu;
    std::vector<ui::Cell> row = {key, sum.last.name, core::AcceleratorText(tpu),
                                 std::string(core::PricingName(tpu.pricing)), tpu.zone};
    AddMoney(row, sum);
    table.AddRow(std::move(row));
  }
  std::vector<ui::Cell> total = {"total", "", "", "", ""};
  AddMoney(total, TotalOf(view));
  table.AddRow(std::move(total));
  return table.Render(style);
}

std::string TableOfGroups(const Costs& view, const ui::Style& style) {
  std::vector<ui::Column> columns = {{.header = GroupHead(view.by), .flexible = 1},
                                     {.header = "JOBS", .right = true}};
  AddMoneyColumns(columns, DiffersFromOnDemand(view));
  ui::Table table(std::move(columns));
  const auto add = [&table](const std::string& key, const CostSum& sum) {
    std::vector<ui::Cell> row = {key, std::to_string(sum.jobs.size())};
    AddMoney(row, sum);
    table.AddRow(std::move(row));
  };
  for (const auto& [key, sum] : SumsOf(view)) add(OrDash(key), sum);
  add("total", TotalOf(view));
  return table.Render(style);
}

std::string CostNotes(const Costs& view) {
  std::string text;
  if (!view.parts.empty()) {
    text += fmt::format(
        "USD at list price ({}), from a job's first stage on its slice until that "
        "is given back\n",
        core::SourcesText(view.price_lists));
  }
  if (DiffersFromOnDemand(view))
    text += "ON DEMAND: what the same hours would cost then; SAVED: how much less it was\n";
  for (const auto& [what, jobs] : Unpriced(view))
    text += fmt::format("no list price is known of {}: {}\n", what, JobNumbers(jobs));
  std::set<core::JobId> at_most;
  for (const client::HeldCost& cost : view.parts)
    if (cost.held.at_most) at_most.insert(cost.job);
  if (!at_most.empty()) {
    text += "an upper bound, as only the beginning and end of attempts are known: " +
            JobNumbers(at_most) + "\n";
  }
  if (!view.simulated.empty()) {
    text += fmt::format("left out, as they are simulated and cost nothing: {}\n",
                        base::Plural(std::ssize(view.simulated), "job"));
  }
  return text;
}

}  // namespace

std::string RenderText(const Costs& view, const ui::Style& style) {
  std::string text = "no slice was held\n";
  if (!view.parts.empty())
    text = view.by == Costs::By::kJob ? TableOfJobs(view, style) : TableOfGroups(view, style);
  return text + WrapMessage(CostNotes(view), style.width);
}

std::string RenderQuiet(const Costs& view) {
  const CostSum total = TotalOf(view);
  if (view.parts.empty()) return "0.00\n";
  return (total.dollars ? fmt::format("{:.2f}", *total.dollars) : "-") + "\n";
}

}  // namespace jobman::cli::views
