#pragma once

#include <string>
#include <vector>

#include "jobman/base/json.hpp"
#include "jobman/base/result.hpp"
#include "jobman/core/job.hpp"
#include "jobman/ui/text.hpp"

namespace jobman::cli::views {

/// What a command asked of jobs: cancel, resume, reboot, requeue, delete.
struct Wished {
  struct Row {
    core::JobId id = {};
    std::string name = {};
    std::string state = {};        ///< core::StateName()
    std::string status = {};       ///< core::StatusWord()
    bool settled = false;          ///< the command waited until the wish was fulfilled
    bool runs_already = false;     ///< it was to run, and is on its way
    bool at_next_attempt = false;  ///< it runs on, and its next attempt uses what was changed
    std::string ends_first = {};   ///< of a worker that is to stop: the task that it ends before
    std::string why = {};
  };
  /// A job with which it could not be done, while others could.
  struct Refused {
    core::JobId id = {};
    base::Error error = {};
  };
  std::string said = {};  ///< "cancelling"
  std::vector<Row> rows = {};
  std::string under_way = {};         ///< what names those that are not settled to a command
  std::vector<Refused> refused = {};  ///< shown in JSON only; for people they are errors
};

/// A line for each job, but one for all that are under way where they are more than three.
std::string RenderText(const Wished& view, const ui::Style& style);
std::string RenderQuiet(const Wished& view);
/// {"jobs": [{"id": 42, "name": ..., "state": ..., "why": ...}]}; if there are any, also "refused":
/// [{"id": 7, "error": {...}}].
base::OrderedJson ToJson(const Wished& view);

}  // namespace jobman::cli::views
