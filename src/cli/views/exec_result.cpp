#include "cli/views/exec_result.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "jobman/base/strings.hpp"
#include "jobman/base/time.hpp"
#include "jobman/ui/table.hpp"

namespace jobman::cli::views {
namespace {

/// How many characters of numbers of hosts a row shows, of 1,024 hosts too.
constexpr std::size_t kMostNumbers = 32;

/// What hosts of the same row have in common.
std::string Result(const ExecResult::Row& row) {
  if (row.exit_code) return std::to_string(*row.exit_code);
  return row.brief.empty() ? row.error : row.brief;
}

/// The same for hosts that share a row, and for no others.
std::string KeyOf(const ExecResult::Row& row) {
  return Result(row) + "\n" + row.odd + (row.may_go_on ? "\n" : "");
}

/// Hosts that share a row of the table.
struct Alike {
  std::vector<int> hosts = {};
  const ExecResult::Row* first = nullptr;
  std::optional<base::Duration> took = {};  ///< of the slowest
  bool same_error = true;

  void Add(const ExecResult::Row& row) {
    if (first == nullptr) first = &row;
    hosts.push_back(row.host);
    took = std::max(took, row.took);
    same_error = same_error && row.error == first->error;
  }
  std::string ExitCode() const {
    if (first->timed_out) return "timeout";
    return first->exit_code ? std::to_string(*first->exit_code) : "-";
  }
  std::string Error() const {
    if (first->timed_out && !first->may_go_on) return {};
    if (same_error) return first->error;
    const std::string result = Result(*first);
    std::string_view example = first->error;
    if (example.ends_with(": " + result)) example.remove_suffix(result.size() + 2);
    return fmt::format("{} (host {}: {})", result, first->host, example);
  }
};

/// HOST, EXIT CODE, and what at least one row has something of.
std::vector<ui::Column> ColumnsFor(bool timed, bool odd, bool failed) {
  std::vector<ui::Column> columns = {{.header = "HOST"}, {.header = "EXIT CODE"}};
  if (timed) columns.push_back({.header = "TIME"});
  if (odd) columns.push_back({.header = "OUTPUT"});
  // Last, where it may go on below: its end names the cause.
  if (failed) columns.push_back({.header = "ERROR", .wraps = true});
  return columns;
}

ui::Tone ToneOf(const ExecResult::Row& row) {
  return row.exit_code == 0 ? ui::Tone::kGood : ui::Tone::kBad;
}

/// Where it is, or the output itself.
void AddOutput(const ExecResult& view, const ExecResult::Row& row, LargeJson& texts,
               base::OrderedJson& json) {
  if (!row.out_file.empty()) {
    json["out"] = row.out_file;
    json["err"] = row.err_file.empty() ? base::OrderedJson() : base::OrderedJson(row.err_file);
    return;
  }
  const auto output = view.output.find(row.host);
  json["output"] = output == view.output.end() ? "" : texts.Place(output->second.read);
}

}  // namespace

ui::Folding Folded(const ExecResult& view) {
  ui::Folding folding;
  for (const auto& [host, output] : view.output) folding.Add(host, output);
  return folding;
}

std::string RenderText(const ExecResult& view, const ui::Style& style) {
  bool timed = false;
  bool odd = false;
  bool failed = false;
  std::map<std::string, Alike> groups;
  std::vector<std::string> order;
  for (const ExecResult::Row& row : view.rows) {
    timed = timed || row.took;
    odd = odd || !row.odd.empty();
    failed = failed || (!row.error.empty() && (!row.timed_out || row.may_go_on));
    Alike& group = groups[KeyOf(row)];
    if (group.first == nullptr) order.push_back(KeyOf(row));
    group.Add(row);
  }
  ui::Table table(ColumnsFor(timed, odd, failed));
  for (const std::string& key : order) {
    const Alike& group = groups[key];
    std::vector<ui::Cell> cells = {base::ShortRanges(group.hosts, kMostNumbers),
                                   {group.ExitCode(), ToneOf(*group.first)}};
    if (timed) cells.emplace_back(group.took ? base::FormatDuration(*group.took) : "");
    if (odd) cells.emplace_back(group.first->odd);
    if (failed) cells.emplace_back(group.Error(), ui::Tone::kBad);
    table.AddRow(std::move(cells));
  }
  return table.Render(style);
}

base::OrderedJson ToJson(const ExecResult& view, LargeJson& texts) {
  base::OrderedJson hosts = base::OrderedJson::array();
  for (const ExecResult::Row& row : view.rows) {
    base::OrderedJson json = {{"host", row.host}, {"exit_code", nullptr}, {"error", nullptr}};
    if (row.exit_code) json["exit_code"] = *row.exit_code;
    if (!row.error.empty()) json["error"] = row.error;
    json["timeout"] = row.timed_out;
    json["seconds"] = nullptr;
    if (row.took) json["seconds"] = static_cast<double>(row.took->count()) / 1000.0;
    json["odd_output"] = row.odd.empty() ? base::OrderedJson() : base::OrderedJson(row.odd);
    AddOutput(view, row, texts, json);
    hosts.push_back(std::move(json));
  }
  return {{"job", view.job.value},
          {"hosts", hosts},
          {"summary", view.summary},
          {"exit_code", view.exit_code}};
}

}  // namespace jobman::cli::views
