// What jobs have cost, as JSON and as comma-separated values.
#include <fmt/format.h>

#include "cli/views/cost_sums.hpp"
#include "cli/views/costs.hpp"
#include "cli/views/words.hpp"
#include "jobman/core/prices.hpp"
#include "jobman/ui/csv.hpp"

namespace jobman::cli::views {
namespace {

base::OrderedJson NumberOrNull(const std::optional<double>& number) {
  return number ? base::OrderedJson(*number) : base::OrderedJson();
}

base::OrderedJson SumJson(const CostSum& sum) {
  return {{"hours", sum.Hours()},
          {"usd", NumberOrNull(sum.dollars)},
          {"usd_on_demand", NumberOrNull(sum.on_demand)},
          {"usd_saved", NumberOrNull(sum.Saved())},
          {"complete", sum.complete},
          {"upper_bound", sum.at_most}};
}

base::OrderedJson JobsJson(const std::set<core::JobId>& jobs) {
  base::OrderedJson numbers = base::OrderedJson::array();
  for (const core::JobId id : jobs) numbers.push_back(id.value);
  return numbers;
}

base::OrderedJson GroupJson(const std::string& key, const CostSum& sum, Costs::By by) {
  base::OrderedJson json = base::OrderedJson::object();
  const client::HeldCost& one = sum.last;
  if (by == Costs::By::kJob) {
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

std::vector<std::string> SumFields(const CostSum& sum) {
  const auto number = [](const std::optional<double>& dollars) {
    return dollars ? fmt::format("{:.4f}", *dollars) : std::string();
  };
  return {
      fmt::format("{:.4f}", sum.Hours()), number(sum.dollars),   sum.complete ? "true" : "false",
      sum.at_most ? "true" : "false",     number(sum.on_demand), number(sum.Saved())};
}

std::vector<std::string> CsvHead(Costs::By by) {
  std::vector<std::string> head = {std::string(WordOfBy(by)), "jobs"};
  if (by == Costs::By::kJob)
    head = {"job", "name", "user", "accelerator", "slices", "pricing", "zone"};
  for (const char* sum : {"hours", "usd", "complete", "upper_bound", "usd_on_demand", "usd_saved"})
    head.emplace_back(sum);
  return head;
}

std::vector<std::string> CsvFields(const std::string& key, const CostSum& sum, Costs::By by) {
  std::vector<std::string> fields = {key, std::to_string(sum.jobs.size())};
  const client::HeldCost& one = sum.last;
  if (by == Costs::By::kJob) {
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

base::OrderedJson ToJson(const Costs& view) {
  base::OrderedJson rows = base::OrderedJson::array();
  for (const auto& [key, sum] : SumsOf(view)) rows.push_back(GroupJson(key, sum, view.by));
  base::OrderedJson unpriced = base::OrderedJson::array();
  for (const auto& [what, jobs] : Unpriced(view))
    unpriced.push_back({{"what", what}, {"jobs", JobsJson(jobs)}});
  return {{"by", WordOfBy(view.by)},
          {"since", TimeJson(view.since)},
          {"price_lists", PriceListsJson(view.price_lists)},
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
