#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "jobman/core/job_spec.hpp"

namespace jobman::remote {

/// A line of sh: the function with its arguments, quoted.
std::string ShellCall(std::string_view function, const std::vector<std::string>& arguments);

// The last lines of a built-in step: calls of the functions of src/remote/setup/SECTION.sh with
// what the section says.

std::string CodeCalls(const core::CodeSpec& code);
std::string IdentityCalls(const core::SshSpec& ssh);
std::string PeersCalls();
std::string GcsfuseCalls(const core::JobSpec& spec);
std::string NfsCalls(const core::JobSpec& spec);
std::string DockerCalls(const core::DockerSpec& docker);
std::string CondaCalls(const core::CondaSpec& conda);
std::string VenvCalls(const core::VenvSpec& venv);
std::string CheckCalls(const core::JobSpec& spec);

// The command in its environment.

std::string InContainer(const core::JobSpec& spec);
std::string InConda(const core::CondaSpec& conda, const std::string& cmd);
std::string InVenv(const core::VenvSpec& venv, const std::string& cmd);

/// The command as the last lines of a script that has prepared its environment: the same process,
/// also when it begins with "#!".
std::string RestOfCommand(const std::string& cmd);
/// Lines of sh: the environment is not there; ends the script.
std::string SayGone(const std::string& environment);

}  // namespace jobman::remote
