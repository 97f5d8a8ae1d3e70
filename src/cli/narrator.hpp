#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/app.hpp"
#include "jobman/client/wait_for_jobs.hpp"

namespace jobman::cli {

/// Tells a waiting user what happens to jobs: each change once, with the time since the wait began.
/// Writes to stderr; nothing with --quiet.
class Narrator {
 public:
  /// With several jobs, each line names its job.
  Narrator(App& app, bool several);
  void Tell(const core::Job& job);

 private:
  App& app_;
  bool several_;
  base::TimePoint began_;
  std::map<core::JobId, std::string> said_ = {};
};

/// client::WaitForJobs(), which tells each change on stderr.
base::Result<std::vector<core::Job>> TellAndWait(App& app, const client::Context& context,
                                                 const std::vector<core::JobId>& ids,
                                                 client::WaitFor wait);
/// Waits until the jobs are at rest, see client::AtRest().
base::Status WaitUntilAtRest(App& app, const client::Context& context,
                             const std::vector<core::JobId>& ids);

}  // namespace jobman::cli
