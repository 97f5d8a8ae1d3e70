#pragma once

#include <string>
#include <vector>

#include "jobman/base/json.hpp"
#include "jobman/client/exec_runs.hpp"
#include "jobman/ui/text.hpp"

namespace jobman::cli::views {

/// The detached runs of a job: `exec --runs`.
struct ExecRuns {
  core::JobId job = {};
  std::vector<client::ExecRunHost> hosts = {};
};
/// A row for all hosts on which a run has the same state; then the hosts that did not answer.
std::string RenderText(const ExecRuns& view, const ui::Style& style);
/// The names, a line each.
std::string RenderQuiet(const ExecRuns& view);
/// {"job", "hosts": [{"host", "error", "runs": [{"name", "state", "exit_code", "why",
/// "seconds"}]}]}
base::OrderedJson ToJson(const ExecRuns& view);

/// A detached run that has begun: `exec --detach`.
struct ExecRunBegun {
  core::JobId job = {};
  std::string name = {};
  int job_hosts = 0;  ///< how many the job has
  ssh::FanOutResult result = {};
};
std::string RenderText(const ExecRunBegun& view, const ui::Style& style);
/// Its name, unless it has surely begun nowhere.
std::string RenderQuiet(const ExecRunBegun& view);
/// {"job", "name", "hosts": [{"host", "error", "begun"}]}
base::OrderedJson ToJson(const ExecRunBegun& view);

}  // namespace jobman::cli::views
