#include "cli/views/imported.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "jobman/base/strings.hpp"
#include "jobman/core/job.hpp"
#include "jobman/ports/queue_store.hpp"
#include "jobman/ui/table.hpp"

namespace jobman::cli::views {
namespace {

using client::Imported;
using client::ImportedQueue;
using client::ImportedRow;
using client::ImportFate;

std::string_view FateName(ImportFate fate) {
  switch (fate) {
    case ImportFate::kTaken:
      return "taken";
    case ImportFate::kThere:
      return "there";
    case ImportFate::kLeft:
      return "left";
  }
  return "left";
}

ui::Cell FateCell(ImportFate fate, bool dry_run) {
  switch (fate) {
    case ImportFate::kTaken:
      return {dry_run ? "to be taken over" : "taken over", ui::Tone::kGood};
    case ImportFate::kThere:
      return {"is here already", ui::Tone::kDim};
    case ImportFate::kLeft:
      return {"left out", ui::Tone::kBad};
  }
  return "";
}

std::int64_t CountOf(const Imported& imported, ImportFate fate) {
  return std::count_if(imported.jobs.begin(), imported.jobs.end(),
                       [fate](const ImportedRow& row) { return row.fate == fate; });
}

std::string IdText(const ImportedRow& row) {
  return row.id.value > 0 ? core::FormatJobId(row.id) : "-";
}

std::string JobTable(const ImportedFolder& view, const ui::Style& style) {
  ui::Table table({{.header = "JOB"},
                   {.header = "NAME", .flexible = 2},
                   {.header = "FATE"},
                   {.header = "READY SLICE", .flexible = 3},
                   {.header = "LOGS", .right = true},
                   {.header = "WHY", .wraps = true}});
  for (const ImportedRow& row : view.imported.jobs) {
    table.AddRow({IdText(row), row.name.empty() ? "-" : row.name, FateCell(row.fate, view.dry_run),
                  row.slice.empty() ? "-" : row.slice, std::to_string(row.logs), row.why});
  }
  return table.empty() ? std::string() : table.Render(style);
}

std::string QueueLine(const ImportedQueue& queue, bool dry_run) {
  const bool submitted = queue.file == ports::kSubmittedQueue;
  std::string text = (submitted ? std::string("submitted tasks") : "queue " + queue.file) + ": ";
  text += base::Plural(queue.taken, "task") + (dry_run ? " to be taken over" : " taken over");
  if (queue.there > 0) text += fmt::format(", {} here already", queue.there);
  if (queue.left > 0) text += fmt::format(", {} left out", queue.left);
  if (queue.logs > 0) text += ", " + base::Plural(queue.logs, "log");
  if (!queue.why.empty()) text += "; " + queue.why;
  return text;
}

/// The last line: what was done, and what to do now.
std::string Summary(const ImportedFolder& view) {
  const Imported& imported = view.imported;
  const std::int64_t taken = CountOf(imported, ImportFate::kTaken);
  const std::int64_t left = CountOf(imported, ImportFate::kLeft);
  std::string text = base::Plural(taken, "job");
  text += view.dry_run ? " to be taken over" : " taken over";
  if (left > 0) text += fmt::format(", {} left out", left);
  text += view.dry_run ? "; a dry run: nothing was stored\n"
                       : "; nothing of " + imported.dir.string() + " was changed\n";
  if (!view.dry_run && taken > 0) {
    const auto first =
        std::find_if(imported.jobs.begin(), imported.jobs.end(),
                     [](const ImportedRow& row) { return row.fate == ImportFate::kTaken; });
    text += fmt::format("to go on with a job: jobman resume {}\n", first->id.value);
  }
  return text;
}

}  // namespace

std::string RenderText(const ImportedFolder& view, const ui::Style& style) {
  const Imported& imported = view.imported;
  std::vector<std::string> lines;
  for (const ImportedQueue& queue : imported.queues)
    lines.push_back(QueueLine(queue, view.dry_run));
  for (const std::string& note : imported.notes) lines.push_back("note: " + note);
  for (const std::string& one : imported.alive) lines.push_back("still runs there: " + one);
  if (!imported.alive.empty()) lines.push_back("import is refused until that is stopped");
  std::string text =
      ui::Clean("Python jobman, " + imported.generation + ", in " + imported.dir.string(),
                style.utf8) +
      "\n";
  text += JobTable(view, style);
  for (const std::string& line : lines) text += ui::Clean(line, style.utf8) + "\n";
  return text + Summary(view);
}

std::string RenderQuiet(const ImportedFolder& view) {
  std::string text;
  for (const ImportedRow& row : view.imported.jobs) {
    if (row.fate == ImportFate::kTaken) text += std::to_string(row.id.value) + "\n";
  }
  return text;
}

base::OrderedJson ToJson(const ImportedFolder& view) {
  const Imported& imported = view.imported;
  base::OrderedJson json = {{"generation", imported.generation},
                            {"dir", imported.dir.string()},
                            {"dry_run", view.dry_run},
                            {"jobs", base::OrderedJson::array()},
                            {"queues", base::OrderedJson::array()},
                            {"notes", imported.notes},
                            {"alive", imported.alive}};
  for (const ImportedRow& row : imported.jobs) {
    json["jobs"].push_back({{"id", row.id.value},
                            {"name", row.name},
                            {"fate", FateName(row.fate)},
                            {"slice", row.slice},
                            {"logs", row.logs},
                            {"why", row.why}});
  }
  for (const ImportedQueue& queue : imported.queues) {
    json["queues"].push_back({{"file", queue.file},
                              {"taken", queue.taken},
                              {"there", queue.there},
                              {"left", queue.left},
                              {"logs", queue.logs},
                              {"why", queue.why}});
  }
  return json;
}

}  // namespace jobman::cli::views
