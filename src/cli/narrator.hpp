#pragma once

#include <map>
#include <string>

#include "cli/app.hpp"
#include "jobman/core/job.hpp"

namespace jobman::cli {

/// Tells a waiting user what becomes of jobs: each change once, with the time since the wait began.
/// Writes to stderr, nothing with --quiet.
class Narrator {
 public:
  /// With several jobs each line names its own.
  Narrator(App& app, bool several);
  void Tell(const core::Job& job);

 private:
  App& app_;
  bool several_;
  base::TimePoint began_;
  std::map<core::JobId, std::string> said_ = {};
};

}  // namespace jobman::cli
