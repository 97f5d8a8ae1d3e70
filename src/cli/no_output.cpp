#include "cli/no_output.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "jobman/base/strings.hpp"
#include "jobman/core/explain.hpp"

namespace jobman::cli {
namespace {

constexpr std::string_view kWaits = "; -f waits for it";

/// " of host 3"; empty if all were asked for.
std::string OfHosts(const core::HostSet& hosts) {
  if (hosts.all) return {};
  const char* const word = hosts.numbers.size() == 1 ? "host" : "hosts";
  return fmt::format(" of {} {}", word, base::FormatRanges(hosts.numbers));
}

/// " yet: its command was started 3m20s ago; -f waits for it"
std::string NotYet(const core::Stage& stage, base::TimePoint now) {
  const auto age = std::max(now - stage.started_at, base::Duration{0});
  return fmt::format(" yet: {} was started {} ago{}",
                     core::IsCommand(stage.id) ? "its command" : stage.name,
                     base::FormatDuration(age), kWaits);
}

/// Whether the stage is the one that the job is in.
bool IsCurrent(const client::LogStage& stage, const core::Job& job) {
  return job.stage && stage.attempt == job.attempt && stage.name == job.stage->name;
}

}  // namespace

void SayNoLogsYet(App& app, const core::Job& job) {
  const std::string named = "job " + core::FormatJobId(job.id);
  if (job.stage) return app.Say(named + " has no output" + NotYet(*job.stage, app.Now()));
  app.Say(fmt::format("{} has no logs yet: it is {}; jobman why {}", named, core::StatusWord(job),
                      job.id.value));
}

void SayNoOutput(App& app, const core::Job& job, const client::ChosenLogs& logs,
                 const LogsWanted& wanted) {
  const client::LogStage& stage = logs.stage;
  const bool current = IsCurrent(stage, job);
  std::string text =
      fmt::format("job {} has no output{}", core::FormatJobId(job.id), OfHosts(wanted.query.hosts));
  if (HasOutput(logs) && wanted.part.since) {
    text += fmt::format(" since {}Z", base::FormatDateTime(*wanted.part.since));
    if (current) text += kWaits;
  } else if (current) {
    text += NotYet(*job.stage, app.Now());
  } else {
    text += fmt::format(" in attempt {}, {}", stage.attempt, stage.name);
  }
  app.Say(text);
}

bool HasOutput(const client::ChosenLogs& logs) {
  return std::any_of(logs.files.begin(), logs.files.end(), [](const client::LogFile& file) {
    return base::FileSize(file.path).value_or(0) > 0;
  });
}

}  // namespace jobman::cli
