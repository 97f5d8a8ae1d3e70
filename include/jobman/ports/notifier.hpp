#pragma once

#include <string>

#include "jobman/base/files.hpp"
#include "jobman/base/task.hpp"
#include "jobman/core/job_spec.hpp"

namespace jobman::ports {

using base::Status;
using base::Task;

/// Something that happened to a job, to be told to somebody.
struct Message {
  std::string event_id = {};  ///< the same whenever the event is told again
  std::string event = {};     ///< "failed"
  std::string body = {};      ///< the event as JSON, see docs/hooks.md
  base::Path log = {};        ///< where the output of a command goes
};

/// Tells hooks what happened. One try; the caller repeats. Reads secrets when they are needed, and
/// keeps none.
class Notifier {
 public:
  virtual ~Notifier() = default;
  virtual Task<Status> Tell(core::HookSpec hook, core::SmtpSpec smtp, Message message) = 0;
};

}  // namespace jobman::ports
