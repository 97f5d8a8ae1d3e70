#include "cli/views/costs.hpp"

#include <fmt/format.h>

#include <chrono>
#include <map>
#include <set>

#include "cli/views/words.hpp"
#include "cli/wrapping.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/core/prices.hpp"
#include "jobman/ui/csv.hpp"
#include "jobman/ui/table.hpp"

namespace jobman::cli::views {
namespace {

using client::HeldCost;
using By = Costs::By;

/// What some of the times come to.
struct Sum {
  std::set<core::JobId> jobs = {};
  HeldCost last = {};  ///< one of them, for what they have in common
  base::Duration held = {};
  std::optional<double> dollars = {};  ///< of those with a price
  bool complete = true;                ///< all have one
  bool at_most = false;                ///< of some only the most is known

  void Add(const HeldCost& cost) {
    jobs.insert(cost.job);
    last = cost;
    held += cost.held.to - cost.held.from;
    at_most = at_most || cost.held.at_most;
    const auto price = cost.Dollars();
    complete = complete && price.has_value();
    if (price) dollars = dollars.value_or(0) + *price;
  }
  double Hours() const { return std::chrono::duration<double, std::ratio<3600>>(held).count(); }
};
using Sums = std::map<std::string, Sum>;

std::string KeyOf(const HeldCost& cost, By by) {
  switch (by) {
    case By::kJob:
      return core::FormatJobId(cost.job);
    case By::kUser:
      return cost.user;
    case By::kDay:
      return base::FormatDateTime(cost.held.from).substr(0, 10);
    case By::kZone:
      return cost.tpu.zone;
  }
  return {};
}

std::string_view WordOfBy(By by) {
  switch (by) {
    case By::kJob:
      return "job";
    case By::kUser:
      return "user";
    case By::kDay:
      return "day";
    case By::kZone:
      return "zone";
  }
  return {};
}

std::string GroupHead(By by) {
  if (by == By::kDay) return "DAY (UTC)";
  return by == By::kUser ? "USER" : "ZONE";
}

Sums SumsOf(const Costs& view) {
  Sums sums;
  const auto cut = view.by == By::kDay ? client::CutByDay(view.parts) : view.parts;
  for (const HeldCost& cost : cut) sums[KeyOf(cost, view.by)].Add(cost);
  return sums;
}

Sum TotalOf(const Costs& view) {
  Sum total;
  for (const HeldCost& cost : view.parts) total.Add(cost);
  return total;
}

std::string Money(const Sum& sum) {
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
  const Sum total = TotalOf(view);
  table.AddRow({"total", "", "", "", "", base::FormatDuration(total.held), Money(total)});
  return table.Render(style);
}

std::string TableOfGroups(const Costs& view, const ui::Style& style) {
  ui::Table table({{.header = GroupHead(view.by), .flexible = 1},
                   {.header = "JOBS", .right = true},
                   {.header = "HELD", .right = true},
                   {.header = "USD", .right = true}});
  const auto add = [&table](const std::string& key, const Sum& sum) {
    table.AddRow(
        {key, std::to_string(sum.jobs.size()), base::FormatDuration(sum.held), Money(sum)});
  };
  for (const auto& [key, sum] : SumsOf(view)) add(OrDash(key), sum);
  add("total", TotalOf(view));
  return table.Render(style);
}

/// "v6e-8 spot in southamerica-west1-a", and the jobs that had it.
std::map<std::string, std::set<core::JobId>> Unpriced(const Costs& view) {
  std::map<std::string, std::set<core::JobId>> jobs;
  for (const HeldCost& cost : view.parts) {
    if (cost.per_hour) continue;
    jobs[fmt::format("{} {} in {}", cost.tpu.accelerator, core::PricingName(cost.tpu.pricing),
                     cost.tpu.zone)]
        .insert(cost.job);
  }
  return jobs;
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
  for (const HeldCost& cost : view.parts)
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

base::OrderedJson NumberOrNull(const std::optional<double>& number) {
  return number ? base::OrderedJson(*number) : base::OrderedJson();
}

base::OrderedJson SumJson(const Sum& sum) {
  return {{"hours", sum.Hours()},
          {"usd", NumberOrNull(sum.dollars)},
          {"complete", sum.complete},
          {"upper_bound", sum.at_most}};
}

base::OrderedJson JobsJson(const std::set<core::JobId>& jobs) {
  base::OrderedJson numbers = base::OrderedJson::array();
  for (const core::JobId id : jobs) numbers.push_back(id.value);
  return numbers;
}

base::OrderedJson GroupJson(const std::string& key, const Sum& sum, By by) {
  base::OrderedJson json = base::OrderedJson::object();
  const HeldCost& one = sum.last;
  if (by == By::kJob) {
    json = {{"job", one.job.value},
            {"name", one.name},
            {"user", one.user},
            {"accelerator", one.tpu.accelerator},
            {"slices", one.tpu.num_slices},
            {"pricing", core::PricingName(one.tpu.pricing)},
            {"zone", one.tpu.zone}};
  } else {
    json[std::string(WordOfBy(by))] = key;
    json["jobs"] = JobsJson(sum.jobs);
  }
  json.update(SumJson(sum));
  return json;
}

std::vector<std::string> SumFields(const Sum& sum) {
  return {fmt::format("{:.4f}", sum.Hours()),
          sum.dollars ? fmt::format("{:.4f}", *sum.dollars) : std::string(),
          sum.complete ? "true" : "false", sum.at_most ? "true" : "false"};
}

std::vector<std::string> CsvHead(By by) {
  if (by == By::kJob) {
    return {"job",  "name",  "user", "accelerator", "slices",     "pricing",
            "zone", "hours", "usd",  "complete",    "upper_bound"};
  }
  return {std::string(WordOfBy(by)), "jobs", "hours", "usd", "complete", "upper_bound"};
}

std::vector<std::string> CsvFields(const std::string& key, const Sum& sum, By by) {
  std::vector<std::string> fields = {key, std::to_string(sum.jobs.size())};
  const HeldCost& one = sum.last;
  if (by == By::kJob) {
    fields = {std::to_string(one.job.value),
              one.name,
              one.user,
              one.tpu.accelerator,
              std::to_string(one.tpu.num_slices),
              std::string(core::PricingName(one.tpu.pricing)),
              one.tpu.zone};
  }
  for (std::string& field : SumFields(sum)) fields.push_back(std::move(field));
  return fields;
}

}  // namespace

std::string RenderText(const Costs& view, const ui::Style& style) {
  std::string text = "no slice was held\n";
  if (!view.parts.empty())
    text = view.by == By::kJob ? TableOfJobs(view, style) : TableOfGroups(view, style);
  return text + WrapMessage(CostNotes(view), style.width);
}

std::string RenderQuiet(const Costs& view) {
  const Sum total = TotalOf(view);
  if (view.parts.empty()) return "0.00\n";
  return (total.dollars ? fmt::format("{:.2f}", *total.dollars) : "-") + "\n";
}

base::OrderedJson ToJson(const Costs& view) {
  base::OrderedJson rows = base::OrderedJson::array();
  for (const auto& [key, sum] : SumsOf(view)) rows.push_back(GroupJson(key, sum, view.by));
  base::OrderedJson unpriced = base::OrderedJson::array();
  for (const auto& [what, jobs] : Unpriced(view))
    unpriced.push_back({{"what", what}, {"jobs", JobsJson(jobs)}});
  return {{"by", WordOfBy(view.by)},
          {"since", TimeJson(view.since)},
          {"price_list", core::kPriceList},
          {"rows", std::move(rows)},
          {"total", SumJson(TotalOf(view))},
          {"unpriced", std::move(unpriced)},
          {"simulated", JobsJson({view.simulated.begin(), view.simulated.end()})}};
}

std::string RenderCsv(const Costs& view) {
  std::string text = ui::CsvLine(CsvHead(view.by));
  for (const auto& [key, sum] : SumsOf(view)) text += ui::CsvLine(CsvFields(key, sum, view.by));
  return text;
}

}  // namespace jobman::cli::views
