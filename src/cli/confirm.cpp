#include "cli/confirm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "jobman/base/strings.hpp"
#include "jobman/client/set_wishes.hpp"

namespace jobman::cli {
namespace {

/// "which is RUNNING"; not CANCELLING of a job that its user restarts.
std::string WhichIs(const core::Job& job) {
  if (std::holds_alternative<core::Cancelling>(job.state) && client::RunsAgain(job.wish))
    return "which is being stopped to run again";
  return fmt::format("which is {}", core::StateName(job.state));
}

/// "jobs 000001 (train), 000002 (eval) and 3 more, 2 of them not over"
std::string Named(const std::vector<core::Job>& jobs) {
  constexpr std::size_t kMostNames = 5;
  std::vector<std::string> names;
  for (const core::Job& job : jobs) {
    if (names.size() < kMostNames)
      names.push_back(core::FormatJobId(job.id) + " (" + job.name + ")");
  }
  std::string text = (jobs.size() == 1 ? "job " : "jobs ") + base::Join(names, ", ");
  if (jobs.size() > names.size()) text += fmt::format(" and {} more", jobs.size() - names.size());
  const auto active = std::count_if(jobs.begin(), jobs.end(),
                                    [](const core::Job& job) { return !core::IsFinal(job.state); });
  if (active == 0) return text;
  if (jobs.size() == 1) return text + ", " + WhichIs(jobs[0]);
  return text + fmt::format(", {} of them not over", active);
}

}  // namespace

bool Confirm(App& app, const std::string& doing, const std::vector<core::Job>& jobs) {
  const bool harmless = jobs.size() < 2 && (jobs.empty() || core::IsFinal(jobs[0].state));
  return harmless || ConfirmEach(app, doing, jobs);
}

bool ConfirmEach(App& app, const std::string& doing, const std::vector<core::Job>& jobs) {
  const bool nobody = app.mode() != OutputMode::kText || !app.terminal().facts().err_screen;
  if (jobs.empty() || nobody) return true;
  const auto answer = app.Ask(doing + " " + Named(jobs) + "?");
  const bool may = !answer.ok() || *answer;
  if (!may) app.Say("nothing was done");
  return may;
}

}  // namespace jobman::cli
