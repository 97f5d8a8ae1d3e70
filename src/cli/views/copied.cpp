#include "cli/views/copied.hpp"

#include <fmt/format.h>

#include "cli/views/host_failures.hpp"
#include "cli/wrapping.hpp"
#include "jobman/base/strings.hpp"

namespace jobman::cli::views {
namespace {

constexpr std::int64_t kWorthASize = 1'000'000;

}  // namespace

std::string RenderText(const CopyResult& view, const ui::Style& style) {
  std::string text;
  for (const std::string& note : view.copied.notes) text += note + "\n";
  HostFailures failures;
  std::int64_t good = 0;
  std::int64_t resumed = 0;
  bool partly = false;
  for (const auto& row : view.copied.hosts) {
    if (!row.error) {
      ++good;
      resumed += row.resumed;
      continue;
    }
    partly = partly || row.partly;
    failures.Add(row.host, *row.error);
  }
  text = WrapMessage(text + failures.Text(), style.width);
  if (good == 0) return text + (partly ? "" : "nothing was copied\n");
  // Those of an archive, which is larger than small files are.
  const std::string size =
      view.copied.bytes < kWorthASize ? "" : base::FormatBytes(view.copied.bytes) + " ";
  const std::string earlier =
      resumed == 0 ? "" : "; " + base::FormatBytes(resumed) + " were there from an earlier try";
  return text + fmt::format("copied {}{} {} of job {} in {}{}\n", size,
                            view.to_hosts ? "to" : "from", base::Plural(good, "host"),
                            core::FormatJobId(view.job), base::FormatDuration(view.took), earlier);
}

base::OrderedJson ToJson(const CopyResult& view) {
  base::OrderedJson hosts = base::OrderedJson::array();
  for (const auto& row : view.copied.hosts) {
    base::OrderedJson json = {
        {"host", row.host},       {"bytes", row.bytes},
        {"resumed", row.resumed}, {"seconds", static_cast<double>(row.took.count()) / 1000.0},
        {"partly", row.partly},   {"error", nullptr}};
    if (row.error) json["error"] = row.error->ToString();
    hosts.push_back(std::move(json));
  }
  return {{"job", view.job.value},
          {"to_hosts", view.to_hosts},
          {"bytes", view.copied.bytes},
          {"seconds", static_cast<double>(view.took.count()) / 1000.0},
          {"hosts", hosts},
          {"notes", view.copied.notes}};
}

}  // namespace jobman::cli::views
