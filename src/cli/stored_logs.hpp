#pragma once

#include "cli/app.hpp"
#include "cli/job_label.hpp"
#include "cli/line_filter.hpp"
#include "jobman/client/log_choice.hpp"
#include "jobman/client/timed_log.hpp"

namespace jobman::cli {

/// What `logs` shows of each job.
struct LogsWanted {
  client::LogQuery query = {};
  client::LogPart part = {};
  LineFilter filter = {};
  bool times = false;
  bool fold = false;
};

/// Says once, if the command has to do with the times of output, that they are not known of a log.
class UntimedNote {
 public:
  UntimedNote(App& app, const LogsWanted& wanted)
      : app_(app), since_(wanted.part.since), wanted_(since_ || wanted.times) {}
  void Look(core::JobId job, const base::Path& log);

 private:
  App& app_;
  bool since_;
  bool wanted_;
};

/// What was printed of a job.
enum class Shown {
  kSome,
  kNoMatch,    ///< nothing: no line matched
  kNoneThere,  ///< nothing, and why was said
};
/// Prints the logs of a job as they are now. Among several jobs, `label` heads them.
base::Result<Shown> PrintStoredLogs(App& app, const client::Context& context, const core::Job& job,
                                    const LogsWanted& wanted, const JobLabel& label,
                                    UntimedNote& note);

}  // namespace jobman::cli
