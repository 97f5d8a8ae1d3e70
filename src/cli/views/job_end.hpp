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
  bool alone = true;                          ///< no other job was followed with it
  bool ran = true;  ///< work was begun on hosts, in any attempt: there may be logs
};

/// What can be done about jobs that are over. Each text names some of them to a command.
struct NextCommands {
  bool several = false;
  std::string all = {};
  std::string failed = {};  ///< what did not succeed; empty: all did
  std::string held = {};    ///< what holds a slice; empty: nothing
  bool ran = true;          ///< see JobEnd
  /// What must be done before it is run again, as the error that ended it says; empty: no error
  /// does, or the hosts can tell more.
  std::string cure = {};
};
NextCommands NextOf(const core::Job& job, bool ran = true);
std::string RenderText(const NextCommands& view, const ui::Style& style);
/// Only the commands and what each is for, a line each, `indent` columns further in.
std::string RenderCommands(const NextCommands& view, int indent, const ui::Style& style);

/// Whether the job still holds a slice that was created for it.
bool HoldsSlice(const core::Job& job);
bool HasSucceeded(const core::Job& job);

/// Of a job alone the table of exit codes, the outcome, and what to do next; of one of several the
/// outcome and the table.
std::string RenderText(const JobEnd& view, const ui::Style& style);
std::string RenderQuiet(const JobEnd& view);
/// {"id": 42, "name": ..., "state": "SUCCEEDED", "exit_code": 0, "why": ...,
///  "stages": {"run": {"0": 0, "1": null}}}
base::OrderedJson ToJson(const JobEnd& view);

}  // namespace jobman::cli::views
