#pragma once

#include <chrono>
#include <string>

#include "jobman/base/files.hpp"
#include "jobman/base/result.hpp"
#include "sim/command/sim_file.hpp"

namespace jobman::sim {

/// Calls a running simulator on its own paths: Ask(file, "POST", "preempt", {..}). A refusal is
/// returned with its message. Waits for each part of the answer no longer than `patience`.
base::Result<Json> Ask(const SimFile& file, const std::string& method, const std::string& what,
                       const Json& body = Json::object(),
                       std::chrono::seconds patience = std::chrono::seconds{60});
/// The simulator of a folder, if one answers there.
base::Result<SimFile> FindRunning(const base::Path& dir);
/// GET status of the simulator of a folder; null if none answers within a second.
Json StatusAtOnce(const base::Path& dir);

}  // namespace jobman::sim
