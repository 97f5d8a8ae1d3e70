#include "cli/views/storage.hpp"

#include <algorithm>

#include "cli/views/error.hpp"
#include "cli/views/words.hpp"
#include "cli/wrapping.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/ui/csv.hpp"
#include "jobman/ui/table.hpp"

namespace jobman::cli::views {
namespace {

using base::OrderedJson;
using client::BucketRow;

std::string LocationText(const BucketRow& row) {
  if (!row.seen) return "-";
  const auto& regions = row.seen->location.regions;
  const std::string name = regions.empty() ? row.seen->location.name : base::Join(regions, "+");
  return OrDash(name) + (row.elsewhere ? " *" : "");
}

std::string BucketTable(const Storage& view, const ui::Style& style) {
  ui::Table table({{.header = "BUCKET", .flexible = 1},
                   {.header = "LOCATION", .flexible = 2},
                   {.header = "KIND"},
                   {.header = "CLASS"},
                   {.header = "SIZE", .right = true}});
  for (const BucketRow& row : view.answer.rows) {
    const ui::Cell name(row.name, row.refused ? ui::Tone::kBad : ui::Tone::kPlain);
    table.AddRow({name, LocationText(row), row.seen ? OrDash(row.seen->location_type) : "-",
                  row.seen ? OrDash(row.seen->storage_class) : "-",
                  row.bytes ? base::FormatBytes(*row.bytes) : "-"});
  }
  if (!table.empty()) return table.Render(style);
  return view.answer.no_list ? "" : "no buckets\n";
}

/// "WHAT: why", and below it what to do.
std::string StorageNote(const std::string& what, const base::Error& error) {
  const std::string cure = error.hint.empty() ? "" : "    " + error.hint + "\n";
  return what + ui::CleanLines(error.ToString()) + "\n" + ui::CleanLines(cure);
}

bool IsKnownOf(const BucketRow& row) {
  return row.seen.has_value();
}

std::string StorageNotes(const Storage& view) {
  const client::StorageAnswer& answer = view.answer;
  std::string text;
  const auto has = [&](auto test) {
    return std::any_of(answer.rows.begin(), answer.rows.end(), test);
  };
  if (has([](const BucketRow& row) { return row.elsewhere; })) {
    const std::vector<std::string> regions(answer.regions.begin(), answer.regions.end());
    text += "*: in no region of a job: " + base::Join(regions, ", ") + "\n";
  }
  for (const BucketRow& row : answer.rows)
    if (row.refused) text += StorageNote("bucket " + row.name + ": ", *row.refused);
  if (answer.no_list) text += StorageNote("buckets are not known: ", *answer.no_list);
  const bool needs_size = has(IsKnownOf);
  if (answer.no_sizes && needs_size) text += StorageNote("sizes are not known: ", *answer.no_sizes);
  const auto unsized = [](const BucketRow& row) { return row.seen && !row.bytes; };
  if (!answer.no_sizes && has(unsized))
    text += "SIZE is measured once a day; -: no objects, too young, or another project's\n";
  return text;
}

OrderedJson OrNull(const std::string& text) {
  return text.empty() ? OrderedJson() : OrderedJson(text);
}

OrderedJson BucketJson(const BucketRow& row) {
  const ports::BucketSeen seen = row.seen.value_or(ports::BucketSeen{});
  return {{"name", row.name},
          {"location", OrNull(seen.location.name)},
          {"regions", seen.location.regions},
          {"location_type", OrNull(seen.location_type)},
          {"storage_class", OrNull(seen.storage_class)},
          {"bytes", row.bytes ? OrderedJson(*row.bytes) : OrderedJson()},
          {"elsewhere", row.elsewhere},
          {"error", row.refused ? views::ToJson(*row.refused) : OrderedJson()}};
}

OrderedJson WhyUnknown(const std::optional<base::Error>& error) {
  return error ? views::ToJson(*error) : OrderedJson();
}

}  // namespace

std::string RenderText(const Storage& view, const ui::Style& style) {
  return BucketTable(view, style) + WrapMessage(StorageNotes(view), style.width);
}

std::string RenderQuiet(const Storage& view) {
  std::string text;
  for (const BucketRow& row : view.answer.rows) {
    if (row.seen) text += row.name + "\n";
  }
  return ui::CleanLines(text);
}

OrderedJson ToJson(const Storage& view) {
  OrderedJson buckets = OrderedJson::array();
  for (const BucketRow& row : view.answer.rows) buckets.push_back(BucketJson(row));
  return {{"project", view.project},
          {"buckets", std::move(buckets)},
          {"job_regions", view.answer.regions},
          {"list_error", WhyUnknown(view.answer.no_list)},
          {"size_error", WhyUnknown(view.answer.no_sizes)}};
}

std::string RenderCsv(const Storage& view) {
  std::string text = ui::CsvLine(
      {"name", "location", "location_type", "storage_class", "bytes", "elsewhere", "error"});
  for (const BucketRow& row : view.answer.rows) {
    const ports::BucketSeen seen = row.seen.value_or(ports::BucketSeen{});
    text +=
        ui::CsvLine({row.name, seen.location.name, seen.location_type, seen.storage_class,
                     row.bytes ? std::to_string(*row.bytes) : "", row.elsewhere ? "true" : "false",
                     row.refused ? row.refused->message : ""});
  }
  for (const auto& error : {view.answer.no_list, view.answer.no_sizes})
    if (error) text += ui::CsvLine({"", "", "", "", "", "", error->message});
  return text;
}

}  // namespace jobman::cli::views
