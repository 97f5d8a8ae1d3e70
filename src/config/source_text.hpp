#pragma once

#include <string>

#include "jobman/base/files.hpp"
#include "jobman/base/result.hpp"

namespace jobman::config {

/// The text of a file that the user named, at most kLargestFile bytes. Refuses what may block for
/// ever (a FIFO, a device, a socket) before it is opened; pipes without a name, such as /dev/stdin,
/// are read. kNotFound without a hint; no message repeats the name.
base::Result<std::string> ReadSourceText(const base::Path& file);

}  // namespace jobman::config
