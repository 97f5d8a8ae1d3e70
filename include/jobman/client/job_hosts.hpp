#pragma once

#include <optional>
#include <string>

#include "jobman/core/job.hpp"

namespace jobman::client {

/// Whether the job has hosts to connect to, and none of them is being deleted.
bool HasHosts(const core::Job& job);
/// Why there will be no hosts any more, unless somebody resumes the job; nothing as long as there
/// are some, or may be.
std::optional<std::string> WhyOver(const core::Job& job);
/// "job 000042 has no hosts (WAITING): WHY": what those wait for who want one.
std::string WaitsFor(const core::Job& job);

}  // namespace jobman::client
