#pragma once

#include <string>

#include "jobman/base/files.hpp"
#include "jobman/base/result.hpp"
#include "sim/command/sim_file.hpp"

namespace jobman::sim {

/// Calls a running simulator on its own paths: Ask(file, "POST", "preempt", {..}). A refusal is
/// returned with its message.
base::Result<Json> Ask(const SimFile& file, const std::string& method, const std::string& what,
                       const Json& body = Json::object());
/// The simulator of a folder, if one answers there.
base::Result<SimFile> FindRunning(const base::Path& dir);

}  // namespace jobman::sim
