#include "cli/views/costs.hpp"

#include <fmt/format.h>

#include <set>

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

std::string Money(const CostSum& sum) {
  if (!sum.dollars) return "-";
  return fmt::format("{:.2f}{}", *sum.dollars, sum.complete ? "" : "+");
}

std::string JobNumbers(const std::set<core::JobId>& jobs) {
  std::vector<std::string> numbers;
  for (const core::JobId id : jobs) numbers.push_back(core::FormatJobId(id));
  return (jobs.size() == 1 ? "job " : "jobs ") + base::Join(numbers, ", ");
}

std::string TableOfJobs(const Costs& view, const ui::Style& style) {
  ui::Table table({{.header = "JOB"},
                   {.header = "NAME", .flexible = 1},
                   {.header = "ACCELERATOR", .flexible = 2},
                   {.header = "PRICING", .drop = 1},
                   {.header = "ZONE", .flexible = 3},
                   {.header = "HELD", .right = true},
                   {.header = "USD", .right = true}});
  for (const auto& [key, sum] : SumsOf(view)) {
    const core::TpuSpec& tpu = sum.last.tpu;
    table.AddRow({key, sum.last.name, core::AcceleratorText(tpu),
                  std::string(core::PricingName(tpu.pricing)), tpu.zone,
                  base::FormatDuration(sum.held), Money(sum)});
  }
  const CostSum total = TotalOf(view);
  table.AddRow({"total", "", "", "", "", base::FormatDuration(total.held), Money(total)});
  return table.Render(style);
}

std::string TableOfGroups(const Costs& view, const ui::Style& style) {
  ui::Table table({{.header = GroupHead(view.by), .flexible = 1},
                   {.header = "JOBS", .right = true},
                   {.header = "HELD", .right = true},
                   {.header = "USD", .right = true}});
  const auto add = [&table](const std::string& key, const CostSum& sum) {
    table.AddRow(
        {key, std::to_string(sum.jobs.size()), base::FormatDuration(sum.held), Money(sum)});
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
        core::kPriceList);
  }
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
