#include "cli/views/garbage.hpp"

#include <fmt/format.h>

#include "cli/views/error.hpp"
#include "cli/views/words.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/ui/table.hpp"

namespace jobman::cli::views {
namespace {

using client::Garbage;
using core::Ownership;

std::string_view KindOf(const core::FoundSlice& found) {
  return found.ref.mode == core::AllocationMode::kQueuedResources ? "queued resource" : "node";
}

std::string_view OwnershipName(Ownership ownership) {
  switch (ownership) {
    case Ownership::kOwned:
      return "owned";
    case Ownership::kOrphan:
      return "orphan";
    case Ownership::kOtherStore:
      return "other_store";
    case Ownership::kOtherOwner:
      return "other_owner";
    case Ownership::kUnlabelled:
      return "unlabelled";
  }
  return "unlabelled";
}

std::string LabelOr(const core::FoundSlice& found, const std::string& key) {
  const auto label = found.labels.find(key);
  return label == found.labels.end() ? std::string{} : label->second;
}

/// The cloud's text has nanoseconds.
std::optional<core::TimePoint> CreatedAt(const core::FoundSlice& found) {
  const auto created = base::ParseRfc3339(found.create_time);
  return created.ok() ? std::optional(*created) : std::nullopt;
}

std::string AgeOf(const core::FoundSlice& found, core::TimePoint now) {
  const auto created = CreatedAt(found);
  return created ? Ago(*created, now) : "-";
}

/// Before anything was done, why it is here; after that, what was done about it.
ui::Cell Verdict(const std::string& why, Garbage::Fate fate,
                 const std::optional<base::Error>& error) {
  switch (fate) {
    case Garbage::Fate::kLeft:
      return why;
    case Garbage::Fate::kDeleted:
      return {"deleted: " + why, ui::Tone::kGood};
    case Garbage::Fate::kGone:
      return {"gone already: " + why, ui::Tone::kDim};
    case Garbage::Fate::kSpared:
      return {"left alone: " + why, ui::Tone::kBusy};
    case Garbage::Fate::kFailed:
      return {"not deleted: " + (error ? error->ToString() : why), ui::Tone::kBad};
  }
  return why;
}

std::string SliceTable(const FoundGarbage& view, Ownership ownership, std::string_view heading,
                       const ui::Style& style) {
  ui::Table table({{.header = "KIND"},
                   {.header = "NAME"},
                   {.header = "PROJECT", .flexible = 1, .drop = 1},
                   {.header = "ZONE"},
                   {.header = "ACCELERATOR", .drop = 2},
                   {.header = "STATE"},
                   {.header = "AGE"},
                   {.header = "WHY", .flexible = 1}});
  for (const Garbage::Slice& row : view.garbage.slices) {
    if (row.claim.ownership != ownership) continue;
    table.AddRow({std::string(KindOf(row.found)), row.found.ref.name, row.found.ref.place.project,
                  row.found.ref.place.zone, OrDash(row.found.accelerator),
                  OrDash(row.found.raw_state), AgeOf(row.found, view.now),
                  Verdict(row.claim.why, row.fate, row.error)});
  }
  return table.empty() ? std::string{} : fmt::format("{}\n{}", heading, table.Render(style));
}

std::string RunTable(const FoundGarbage& view, const ui::Style& style) {
  ui::Table table({{.header = "JOB"},
                   {.header = "HOST", .right = true},
                   {.header = "RUN"},
                   {.header = "WHY", .flexible = 1}});
  for (const Garbage::Run& row : view.garbage.runs) {
    table.AddRow({core::FormatJobId(row.job), std::to_string(row.host), row.run_id,
                  Verdict(row.why, row.fate, row.error)});
  }
  if (table.empty()) return {};
  return "processes that belong to no attempt:\n" + table.Render(style);
}

base::OrderedJson FateJson(base::OrderedJson json, Garbage::Fate fate,
                           const std::optional<base::Error>& error) {
  json["outcome"] = FateName(fate).empty() ? base::OrderedJson() : FateName(fate);
  json["error"] = error ? ToJson(*error) : base::OrderedJson();
  return json;
}

base::OrderedJson PlaceJson(const client::CloudPlace& one) {
  return {
      {"endpoint", one.cloud.endpoint}, {"project", one.place.project}, {"zone", one.place.zone}};
}

base::OrderedJson SliceJson(const Garbage::Slice& row) {
  const core::FoundSlice& found = row.found;
  const auto job = core::LabelledJob(found.labels);
  base::OrderedJson json = {
      {"kind", found.ref.mode == core::AllocationMode::kTpuVm ? "node" : "queued_resource"},
      {"name", found.ref.name},
      {"endpoint", row.where.cloud.endpoint},
      {"project", found.ref.place.project},
      {"zone", found.ref.place.zone},
      {"state", found.raw_state},
      {"accelerator", found.accelerator},
      {"nodes", found.nodes},
      {"created_at", TimeJson(CreatedAt(found))},
      {"job", job ? base::OrderedJson(job->value) : base::OrderedJson()},
      {"owner", LabelOr(found, "jobman-owner")},
      {"store", LabelOr(found, "jobman-store")},
      {"ownership", OwnershipName(row.claim.ownership)},
      {"why", row.claim.why}};
  return FateJson(std::move(json), row.fate, row.error);
}

}  // namespace

std::string_view FateName(Garbage::Fate fate) {
  switch (fate) {
    case Garbage::Fate::kLeft:
      return "";
    case Garbage::Fate::kDeleted:
      return "deleted";
    case Garbage::Fate::kGone:
      return "gone";
    case Garbage::Fate::kSpared:
      return "spared";
    case Garbage::Fate::kFailed:
      return "failed";
  }
  return "";
}

std::string RenderText(const FoundGarbage& view, const ui::Style& style) {
  std::vector<std::string> parts = {
      SliceTable(view, Ownership::kOrphan, "slices that no job holds:", style),
      RunTable(view, style),
      SliceTable(view, Ownership::kOtherStore,
                 "slices of your other stores (--all-stores):", style),
      SliceTable(view, Ownership::kUnlabelled,
                 "with a name that --name matches, without jobman labels (--unlabelled):", style)};
  std::erase(parts, std::string{});
  return base::Join(parts, "\n");
}

std::string RenderQuiet(const FoundGarbage& view) {
  std::string text;
  for (const Garbage::Slice& row : view.garbage.slices) {
    const bool listed =
        row.claim.ownership == Ownership::kOrphan || row.fate != Garbage::Fate::kLeft;
    if (listed) text += row.found.ref.name + "\n";
  }
  for (const Garbage::Run& row : view.garbage.runs) text += row.run_id + "\n";
  return text;
}

base::OrderedJson ToJson(const FoundGarbage& view) {
  base::OrderedJson json = {{"places", base::OrderedJson::array()},
                            {"slices", base::OrderedJson::array()},
                            {"runs", base::OrderedJson::array()},
                            {"silent_hosts", base::OrderedJson::array()}};
  for (const client::CloudPlace& one : view.garbage.places)
    json["places"].push_back(PlaceJson(one));
  for (const Garbage::Slice& row : view.garbage.slices) json["slices"].push_back(SliceJson(row));
  for (const Garbage::Run& row : view.garbage.runs) {
    base::OrderedJson run = {
        {"job", row.job.value}, {"host", row.host}, {"run", row.run_id}, {"why", row.why}};
    json["runs"].push_back(FateJson(std::move(run), row.fate, row.error));
  }
  for (const Garbage::SilentHost& host : view.garbage.silent) {
    json["silent_hosts"].push_back(
        {{"job", host.job.value}, {"host", host.host}, {"error", ToJson(host.error)}});
  }
  return json;
}

}  // namespace jobman::cli::views
