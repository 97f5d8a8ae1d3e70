#pragma once

#include <string>
#include <vector>

#include "jobman/base/json.hpp"
#include "jobman/ports/records.hpp"
#include "jobman/ui/text.hpp"

namespace jobman::cli::views {

/// The end of a job that was followed.
struct JobEnd {
  core::Job job = {};
  std::vector<ports::ExitRecord> exits = {};  ///< of the last attempt
  int exit_code = 0;                          ///< of the process that followed it
};

/// The table of exit codes, the outcome, and what to do next.
std::string RenderText(const JobEnd& view, const ui::Style& style);
std::string RenderQuiet(const JobEnd& view);
/// {"id": 42, "name": ..., "state": "SUCCEEDED", "exit_code": 0, "why": ...,
///  "stages": {"run": {"0": 0, "1": null}}}
base::OrderedJson ToJson(const JobEnd& view);

}  // namespace jobman::cli::views
