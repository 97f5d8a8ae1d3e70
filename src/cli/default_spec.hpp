#pragma once

#include <string>

#include "cli/app.hpp"
#include "jobman/core/job_spec.hpp"

namespace jobman::cli {

/// The cloud and the project of a job that says nothing of them itself, for `command`; the project,
/// which may be empty, is `project` if that names one. The rest means nothing.
base::Result<core::JobSpec> SpecOfDefaults(const App& app, const std::string& command,
                                           const std::string& project);
/// The same where a project is needed: kInvalidArgument without one.
base::Result<core::JobSpec> SpecWithProject(const App& app, const std::string& command,
                                            const std::string& project);

}  // namespace jobman::cli
