#pragma once

#include <string>
#include <vector>

#include "jobman/base/json.hpp"
#include "jobman/core/job.hpp"
#include "jobman/ui/text.hpp"

namespace jobman::cli::views {

/// The result of waiting for jobs.
struct Waited {
  struct Row {
    core::JobId id = {};
    std::string name = {};
    std::string state = {};   ///< core::StateName()
    std::string status = {};  ///< core::StatusWord()
    bool reached = false;     ///< the job got into a state that was waited for
    int exit_code = 0;        ///< what this job contributes to the process's exit code
    std::string why = {};
  };
  std::vector<Row> rows = {};
};

/// "job 000042 (train) is RUNNING: running the command on 4 of 4 hosts"
std::string RenderText(const Waited& view, const ui::Style& style);
std::string RenderQuiet(const Waited& view);
/// {"jobs": [{"id": 42, "name": ..., "state": ..., "reached": true, "exit_code": 0, "why": ...}]}
base::OrderedJson ToJson(const Waited& view);

}  // namespace jobman::cli::views
