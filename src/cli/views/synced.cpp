#include "cli/views/synced.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "cli/views/host_failures.hpp"
#include "cli/wrapping.hpp"
#include "jobman/base/clean.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/ui/folding.hpp"

namespace jobman::cli::views {
namespace {

using SyncRow = client::Synced::Host;

std::string SyncFailures(const std::vector<SyncRow>& rows) {
  HostFailures failures;
  for (const SyncRow& row : rows) {
    if (row.error) failures.Add(row.host, *row.error);
  }
  return failures.Text();
}

/// What was done to the hosts that something was done to.
struct SyncSums {
  std::int64_t hosts = 0;
  std::int64_t equal = 0;  ///< hosts with nothing to do
  std::int64_t fewest = 0;
  std::int64_t most = 0;  ///< files, of one host
  std::int64_t changed = 0;
  std::int64_t removed = 0;
  std::int64_t bytes = 0;    ///< of archives, to one host
  std::int64_t relayed = 0;  ///< to all hosts
};

SyncSums SyncSumsOf(const std::vector<SyncRow>& rows) {
  SyncSums sums;
  for (const SyncRow& row : rows) {
    if (row.error) continue;
    if (row.nothing) {
      ++sums.equal;
      continue;
    }
    sums.fewest = sums.hosts == 0 ? row.sent : std::min(sums.fewest, row.sent);
    ++sums.hosts;
    sums.most = std::max(sums.most, row.sent);
    sums.changed = std::max(sums.changed, row.changed);
    sums.removed = std::max(sums.removed, row.removed);
    sums.bytes = std::max(sums.bytes, row.bytes + row.relayed);
    sums.relayed += row.relayed;
  }
  return sums;
}

/// "2 of 2000 files, 1 removed".
std::string WhatDiffers(const SyncSums& sums, std::int64_t files) {
  std::string text = sums.fewest == sums.most ? fmt::format("{}", sums.most)
                                              : fmt::format("{}-{}", sums.fewest, sums.most);
  text += " of " + base::Plural(files, "file");
  if (sums.changed > 0) text += fmt::format(", mode or time of {}", sums.changed);
  if (sums.removed > 0) text += fmt::format(", {} removed", sums.removed);
  return text;
}

std::string SyncSummary(const SyncResult& view) {
  const SyncSums sums = SyncSumsOf(view.synced.hosts);
  const std::string job = core::FormatJobId(view.job);
  const std::string took = base::FormatDuration(view.took);
  if (sums.hosts + sums.equal == 0) return "nothing was sent\n";
  if (sums.hosts == 0) {
    return fmt::format("nothing to do on {} of job {}: {} compared in {}\n",
                       base::Plural(sums.equal, "host"), job,
                       base::Plural(view.synced.files, "file"), took);
  }
  const std::string what = WhatDiffers(sums, view.synced.files);
  const std::string hosts = base::Plural(sums.hosts, "host");
  const std::string equal =
      sums.equal > 0 ? fmt::format("nothing to do on {}", sums.equal) : std::string{};
  if (view.dry_run) {
    return fmt::format("would send {} to {} of job {}{}\n", what, hosts, job,
                       equal.empty() ? "" : " (" + equal + ")");
  }
  std::string ways = base::FormatBytes(view.synced.bytes) + " over the uplink";
  if (sums.relayed > 0) ways += ", " + base::FormatBytes(sums.relayed) + " from host to host";
  return fmt::format("{}, {} sent to {} of job {} in {} ({}{})\n", what,
                     base::FormatBytes(sums.bytes), hosts, job, took, ways,
                     equal.empty() ? "" : "; " + equal);
}

void AddSyncChanges(std::string& text, char sign, const std::vector<std::string>& names) {
  for (const std::string& name : names) text += fmt::format("{} {}\n", sign, base::CleanLine(name));
}

}  // namespace

std::string RenderText(const SyncResult& view, const ui::Style& style) {
  std::string text;
  for (const std::string& note : view.synced.notes) text += note + "\n";
  text = WrapMessage(text + SyncFailures(view.synced.hosts), style.width);
  return text + SyncSummary(view);
}

std::string RenderChanges(const SyncResult& view) {
  std::string text;
  for (const auto& change : view.synced.changes) {
    text += ui::HostsLabel(change.hosts) + ":\n";
    AddSyncChanges(text, '+', change.send);
    AddSyncChanges(text, '~', change.change);
    AddSyncChanges(text, '-', change.remove);
  }
  return text;
}

base::OrderedJson ToJson(const SyncResult& view) {
  base::OrderedJson hosts = base::OrderedJson::array();
  for (const SyncRow& row : view.synced.hosts) {
    base::OrderedJson json = {{"host", row.host},       {"sent", row.sent},
                              {"changed", row.changed}, {"removed", row.removed},
                              {"bytes", row.bytes},     {"relayed", row.relayed},
                              {"error", nullptr}};
    if (row.error) json["error"] = row.error->ToString();
    hosts.push_back(std::move(json));
  }
  base::OrderedJson changes = base::OrderedJson::array();
  for (const auto& change : view.synced.changes) {
    changes.push_back({{"hosts", change.hosts},
                       {"send", change.send},
                       {"change", change.change},
                       {"remove", change.remove}});
  }
  return {
      {"job", view.job.value},      {"files", view.synced.files},
      {"bytes", view.synced.bytes}, {"seconds", static_cast<double>(view.took.count()) / 1000.0},
      {"dry_run", view.dry_run},    {"hosts", hosts},
      {"changes", changes},         {"notes", view.synced.notes}};
}

}  // namespace jobman::cli::views
