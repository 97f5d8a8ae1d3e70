#pragma once

#include <string>

#include "jobman/base/files.hpp"
#include "jobman/base/task.hpp"
#include "jobman/core/job_spec.hpp"

namespace jobman::ports {

using base::Status;
using base::Task;

/// An event of a job, to be delivered to a hook.
struct Message {
  std::string event_id = {};  ///< the same in every retry
  std::string event = {};     ///< "failed"
  std::string body = {};      ///< the event as JSON, see docs/guide/hooks.md
  base::Path log = {};        ///< where the output of a command goes
};

/// Delivers events to hooks. One try; the caller retries. Reads secrets when needed and keeps none.
class Notifier {
 public:
  virtual ~Notifier() = default;
  virtual Task<Status> Tell(core::HookSpec hook, core::SmtpSpec smtp, Message message) = 0;
};

}  // namespace jobman::ports
