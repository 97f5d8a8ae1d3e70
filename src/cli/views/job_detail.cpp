#include "cli/views/job_detail.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/views/host_matrix.hpp"
#include "cli/views/words.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/base/time.hpp"
#include "jobman/core/explain.hpp"
#include "jobman/core/job_json.hpp"
#include "jobman/core/spec_json.hpp"
#include "jobman/ui/table.hpp"

namespace jobman::cli::views {
namespace {

using core::Job;

// Lines "label  text"; empty texts are left out.
class Sheet {
 public:
  explicit Sheet(const ui::Style& style) : style_(style) {}
  void Line(std::string_view label, const std::string& text, ui::Tone tone = ui::Tone::kPlain) {
    if (text.empty()) return;
    text_ += LabelledLine(label, text, 0, tone, style_);
  }
  void Block(const std::string& block) {
    if (!block.empty()) text_ += "\n" + block;
  }
  std::string Take() { return std::move(text_); }

 private:
  ui::Style style_;
  std::string text_ = {};
};

std::string TpuText(const core::TpuSpec& tpu) {
  std::vector<std::string> parts = {
      core::AcceleratorText(tpu) + " " + std::string(core::PricingName(tpu.pricing)),
      std::string(core::AllocationModeName(tpu.allocation_mode)), tpu.zone};
  if (!tpu.project.empty()) parts.push_back("project " + tpu.project);
  if (!tpu.version.empty()) parts.push_back("runtime " + tpu.version);
  return base::Join(parts, ", ");
}

std::string Budget(std::string_view name, int spent, const std::optional<int>& limit) {
  return fmt::format("{} {} of {}", name, spent, limit ? std::to_string(*limit) : "unlimited");
}

std::string RetriesText(const Job& job) {
  const core::RetrySpec& retries = job.spec.retries;
  return base::Join({Budget("preemption", job.spent.preemption, retries.preemption),
                     Budget("failure", job.spent.failure, retries.failure),
                     Budget("infra", job.spent.infra, retries.infra)},
                    ", ");
}

std::string CommandText(const core::JobSpec& spec) {
  if (spec.queue) {
    const std::string& file = spec.queue->config;
    return "none: runs " + (file.empty() ? "submitted tasks" : "the tasks of " + file);
  }
  return spec.command.cmd.empty() ? "none: holds its slice" : FirstLine(spec.command.cmd);
}

std::string SliceText(const core::Slice& slice) {
  std::string text = fmt::format("{} in {}, {}", slice.ref.name, slice.ref.place.zone,
                                 core::SlicePhaseName(slice.phase));
  if (!slice.cloud_state.empty()) text += ", the cloud says " + slice.cloud_state;
  if (slice.generation > 0) text += fmt::format(", generation {}", slice.generation);
  return text;
}

std::string ResultText(const Job& job) {
  const auto* done = std::get_if<core::Done>(&job.state);
  if (done == nullptr) return {};
  if (done->error) return core::ErrorSentence(*done->error);
  const bool ran =
      done->outcome == core::Outcome::kSucceeded || done->outcome == core::Outcome::kFailed;
  return ran ? fmt::format("exit code {}", done->exit_code) : std::string{};
}

std::string LabelsText(const std::map<std::string, std::string>& labels) {
  std::vector<std::string> parts;
  for (const auto& [key, value] : labels) parts.push_back(key + "=" + value);
  return base::Join(parts, ", ");
}

/// "3 of 4: lr=0.2, seed=7".
std::string ElementLine(const core::JobSpec& spec) {
  if (spec.array.empty()) return {};
  return fmt::format("{} of {}: {}", spec.array.index + 1, spec.array.size,
                     core::ElementText(spec));
}

/// Then the sheet above says it, too.
bool InOneZone(const std::vector<ports::AttemptRecord>& attempts) {
  return std::all_of(attempts.begin(), attempts.end(),
                     [&](const auto& attempt) { return attempt.zone == attempts.front().zone; });
}

std::string RenderAttempts(const std::vector<ports::AttemptRecord>& attempts, core::TimePoint now,
                           const ui::Style& style) {
  if (attempts.empty()) return {};
  // A slice's name ends with the attempt; the reason is mostly the outcome of the one before.
  ui::Table table({{.header = "ATTEMPT", .right = true},
                   {.header = "SLICE", .flexible = 1, .by_end = true},
                   {.header = "ZONE", .drop = InOneZone(attempts) ? 1 : 0},
                   {.header = "STARTED (UTC)"},
                   {.header = "TOOK", .right = true},
                   {.header = "OUTCOME"},
                   {.header = "REASON", .drop = 2, .wraps = true, .enough = 16}});
  for (const ports::AttemptRecord& attempt : attempts) {
    table.AddRow({std::to_string(attempt.attempt), OrDash(attempt.slice), OrDash(attempt.zone),
                  base::FormatDateTime(attempt.started_at),
                  Ago(attempt.started_at, attempt.ended_at.value_or(now)), OrDash(attempt.outcome),
                  attempt.reason});
  }
  return table.Render(style);
}

std::string RenderItem(const JobDetails::Item& item, core::TimePoint now, const ui::Style& style) {
  const Job& job = item.job;
  const std::string_view state = core::StatusWord(job);
  Sheet sheet(style);
  sheet.Line("job", core::FormatJobId(job.id) + " " + job.name);
  sheet.Line(
      "status",
      core::IsStarting(job) ? std::string(state) : StatusText(state, core::FamiliarStatus(job)),
      ToneOfState(state));
  sheet.Line("since",
             fmt::format("{} UTC, {} ago", base::FormatDateTime(job.since), Ago(job.since, now)));
  sheet.Line("why", job.why);
  sheet.Line("result", ResultText(job));
  if (item.output) sheet.Line("output", client::LastOutputText(*item.output, now));
  sheet.Line("user", job.user);
  sheet.Line("created", base::FormatDateTime(job.created_at) + " UTC");
  sheet.Line("element", ElementLine(job.spec));
  sheet.Line("labels", LabelsText(job.spec.labels));
  sheet.Line("tpu", TpuText(job.spec.tpu));
  sheet.Line("slice", job.slice ? SliceText(*job.slice) : "none held");
  if (!job.spec.code.empty()) sheet.Line("code", CodeText(job.spec.code));
  sheet.Line("setup", base::Join(core::StepNames(job.spec), ", "));
  sheet.Line("command", CommandText(job.spec));
  if (job.revised) sheet.Line("changed", "the job file; used from the next attempt on");
  sheet.Line("workers", core::HostSetText(job.spec.command.workers));
  sheet.Line("retries", RetriesText(job));
  for (const std::string& trouble : HookTroubles(item.deliveries, now)) {
    sheet.Line("hook", trouble, ui::Tone::kBad);
  }
  sheet.Line("files", item.logs);
  sheet.Block(RenderHosts(job, item.exits, style));
  sheet.Block(RenderAttempts(item.attempts, now, style));
  return sheet.Take();
}

base::OrderedJson ToJson(const ports::AttemptRecord& attempt) {
  return {{"attempt", attempt.attempt},
          {"slice", attempt.slice},
          {"zone", attempt.zone},
          {"reason", attempt.reason},
          {"started_at", base::FormatRfc3339(attempt.started_at)},
          {"ended_at", TimeJson(attempt.ended_at)},
          {"outcome", attempt.outcome}};
}

base::OrderedJson ToJson(const ports::ExitRecord& exit) {
  return {{"attempt", exit.attempt},           {"stage", exit.stage},         {"host", exit.host},
          {"exit_code", exit.exit_code},       {"lost", !exit.error.empty()}, {"error", exit.error},
          {"at", base::FormatRfc3339(exit.at)}};
}

base::OrderedJson ToJson(const ports::HookDelivery& delivery) {
  return {{"event", delivery.event},
          {"event_id", delivery.event_id},
          {"attempt", delivery.attempt},
          {"target", delivery.target},
          {"at", base::FormatRfc3339(delivery.at)},
          {"told", !delivery.next_try && delivery.error.empty()},
          {"tries", delivery.tries},
          {"next_try", TimeJson(delivery.next_try)},
          {"error", delivery.error}};
}

base::OrderedJson ToJson(const std::optional<client::LastOutput>& output) {
  if (!output) return nullptr;
  return {{"host", output->host},
          {"stage", output->stage},
          {"at", base::FormatRfc3339(output->at)},
          {"line", output->line}};
}

base::OrderedJson ToJson(const JobDetails::Item& item);

template <class Records>
base::OrderedJson ArrayJson(const Records& records) {
  base::OrderedJson array = base::OrderedJson::array();
  for (const auto& record : records) array.push_back(ToJson(record));
  return array;
}

base::OrderedJson ToJson(const JobDetails::Item& item) {
  const Job& job = item.job;
  return {{"id", job.id.value},
          {"name", job.name},
          {"user", job.user},
          {"state", core::StateName(job.state)},
          {"status", core::StatusWord(job)},
          {"familiar", core::FamiliarStatus(job)},
          {"state_data", core::StateToJson(job.state)},
          {"since", base::FormatRfc3339(job.since)},
          {"why", job.why},
          {"wish", core::WishName(job.wish)},
          {"created_at", base::FormatRfc3339(job.created_at)},
          {"attempt", job.attempt},
          {"wake_at", TimeJson(job.wake_at)},
          {"spent", core::SpentToJson(job.spent)},
          {"slice", job.slice ? core::SliceToJson(*job.slice) : base::Json()},
          {"abandoned_requests", core::AbandonedToJson(job.abandoned)},
          {"last_output", ToJson(item.output)},
          {"stage", job.stage ? core::StageToJson(*job.stage) : base::Json()},
          {"attempts", ArrayJson(item.attempts)},
          {"exits", ArrayJson(item.exits)},
          {"hook_deliveries", ArrayJson(item.deliveries)},
          {"spec", core::SpecToJson(job.spec)},
          {"files", item.logs}};
}

}  // namespace

std::vector<std::string> HookTroubles(const std::vector<ports::HookDelivery>& deliveries,
                                      core::TimePoint now) {
  std::vector<std::string> sentences;
  for (const ports::HookDelivery& delivery : deliveries) {
    const bool told = !delivery.next_try && delivery.error.empty();
    const bool fresh = delivery.next_try && delivery.tries == 0;
    if (told || fresh) continue;
    std::string next = "given up";
    if (delivery.next_try) {
      const auto wait = *delivery.next_try - now;
      next = "again " + (wait > core::Duration{0} ? "in " + base::FormatDuration(wait) : "now");
    }
    sentences.push_back(fmt::format("{} failed: {}; {} {}, {}", ports::HookText(delivery),
                                    delivery.error, delivery.tries,
                                    delivery.tries == 1 ? "try" : "tries", next));
  }
  return sentences;
}

std::string RenderHosts(const core::Job& job, const std::vector<ports::ExitRecord>& exits,
                        const ui::Style& style) {
  const HostMatrix matrix = MakeHostMatrix(job, exits);
  if (matrix.hosts.empty()) return {};
  std::vector<ui::Column> columns = {
      {.header = "HOST", .right = true}, {.header = "INTERNAL"}, {.header = "EXTERNAL"}};
  for (const std::string& stage : matrix.stages) columns.push_back({.header = stage});
  ui::Table table(std::move(columns));
  for (const HostMatrix::Host& host : matrix.hosts) {
    std::vector<ui::Cell> row = {std::to_string(host.number), OrDash(host.address.internal),
                                 OrDash(host.address.external)};
    row.insert(row.end(), host.stages.begin(), host.stages.end());
    table.AddRow(std::move(row));
  }
  return table.Render(style);
}

std::string RenderText(const JobDetails& view, const ui::Style& style) {
  std::string text;
  for (const JobDetails::Item& item : view.items) {
    if (!text.empty()) text += "\n";
    text += RenderItem(item, view.now, style);
  }
  return text;
}

std::string RenderQuiet(const JobDetails& view) {
  std::string text;
  for (const JobDetails::Item& item : view.items)
    text += fmt::format("{} {}\n", core::FormatJobId(item.job.id), core::StatusWord(item.job));
  return text;
}

base::OrderedJson ToJson(const JobDetails& view) {
  return {{"jobs", ArrayJson(view.items)}};
}

}  // namespace jobman::cli::views
