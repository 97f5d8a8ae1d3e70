#include "jobman/client/log_choice.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "jobman/base/strings.hpp"

namespace jobman::client {
namespace {

using base::Result;

std::string ListOf(const std::vector<std::string>& names) {
  return names.empty() ? "there are no logs" : "there is: " + base::Join(names, ", ");
}

Result<std::optional<int>> ChooseAttempt(const base::StatePaths& paths, core::JobId job,
                                         const LogQuery& query) {
  const std::vector<int> attempts = LogAttempts(paths, job);
  if (!query.attempt) {
    return attempts.empty() ? std::optional<int>{} : std::optional{attempts.back()};
  }
  if (std::find(attempts.begin(), attempts.end(), *query.attempt) != attempts.end())
    return query.attempt;
  std::vector<std::string> known;
  for (const int attempt : attempts) known.push_back(std::to_string(attempt));
  return base::NotFound(fmt::format("attempt {} has no logs", *query.attempt), ListOf(known));
}

Result<std::optional<LogStage>> ChooseStage(const base::StatePaths& paths, core::JobId job,
                                            const LogQuery& query, int attempt) {
  const std::vector<LogStage> stages = LogStages(paths, job, attempt);
  if (query.stage.empty()) {
    return stages.empty() ? std::optional<LogStage>{} : std::optional{stages.back()};
  }
  std::vector<std::string> known;
  for (const LogStage& stage : stages) {
    if (core::IsStageCalled(stage.name, query.stage)) return std::optional{stage};
    known.push_back(stage.name);
  }
  return base::NotFound(fmt::format("attempt {} has no logs of stage \"{}\"", attempt, query.stage),
                        ListOf(known));
}

Result<std::vector<LogFile>> ChooseFiles(const base::StatePaths& paths, core::JobId job,
                                         const core::HostSet& hosts, const LogStage& stage) {
  std::vector<LogFile> files = LogFiles(paths, job, stage);
  std::vector<int> present;
  for (const LogFile& file : files) present.push_back(file.host);
  for (const int host : hosts.numbers) {
    if (hosts.all || std::binary_search(present.begin(), present.end(), host)) continue;
    return base::NotFound(
        fmt::format("host {} left no log in attempt {}, {}", host, stage.attempt, stage.name),
        std::string(present.size() == 1 ? "there is a log of host " : "there are logs of hosts ") +
            base::FormatRanges(present));
  }
  std::erase_if(files, [&](const LogFile& file) { return !hosts.Contains(file.host); });
  return files;
}

}  // namespace

Result<std::optional<ChosenLogs>> ChooseLogs(const base::StatePaths& paths, core::JobId job,
                                             const LogQuery& query) {
  JM_ASSIGN_OR_RETURN(const auto attempt, ChooseAttempt(paths, job, query));
  if (!attempt) return std::optional<ChosenLogs>{};
  JM_ASSIGN_OR_RETURN(const auto stage, ChooseStage(paths, job, query, *attempt));
  if (!stage) return std::optional<ChosenLogs>{};
  JM_ASSIGN_OR_RETURN(auto files, ChooseFiles(paths, job, query.hosts, *stage));
  return std::optional(ChosenLogs{.stage = *stage, .files = std::move(files)});
}

LogFollower::Options FollowFrom(const base::StatePaths& paths, const core::Job& job,
                                const LogQuery& query) {
  LogFollower::Options from{.first_attempt = std::max(job.attempt, 1),
                            .only_attempt = query.attempt,
                            .hosts = query.hosts};
  if (!query.stage.empty()) from.only_stage = query.stage;
  const auto attempts = LogAttempts(paths, job.id);
  // If the job is about to start a new attempt, the existing logs belong to the last one.
  if (!attempts.empty() && core::IsFinal(job.state)) from.first_attempt = attempts.back();
  if (query.attempt) from.first_attempt = *query.attempt;
  const auto stages = LogStages(paths, job.id, from.first_attempt);
  if (!stages.empty()) from.first_stage = stages.back().name;
  return from;
}

}  // namespace jobman::client
