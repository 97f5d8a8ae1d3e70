#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "controller/stage_context.hpp"
#include "jobman/controller/host_calls.hpp"

namespace jobman::controller {

/// A file of this machine that a host needs.
struct FileToSend {
  std::string name = {};  ///< on the host
  base::Path path = {};   ///< here
  std::int64_t bytes = 0;
  std::string sha256 = {};
  int host = 0;               ///< that needs it
  bool relayed = false;       ///< hosts that have it may give it to others
  std::string replaces = {};  ///< other files on the host whose names begin so are removed
};

/// Brings the file to the host unless it has it: from another host, or from here. The status is
/// kExited, or kError if the host cannot keep it. Errors: those of a call; kFailedPrecondition if
/// the file is not here and the host needs it. `contact` is called while the host takes it. One
/// try; few go on at a time.
base::Task<base::Result<remote::RunStatus>> SendFile(const StageContext* context,
                                                     ports::SharedTarget target, FileToSend file,
                                                     std::function<void()> contact,
                                                     Connected connected);

}  // namespace jobman::controller
