#pragma once

#include "config/reader.hpp"
#include "jobman/core/job_spec.hpp"

namespace jobman::config {

/// The spec that the tree describes, defaults filled in. Reports what is wrong; the spec is worth
/// something only when nothing was.
core::JobSpec BuildSpec(Reader& reader);

// The parts, each in a file of its own. Later ones read what earlier ones found.
core::CloudSpec BuildCloud(Reader& reader);
core::TpuSpec BuildTpu(Reader& reader, const core::JobSpec& spec);
core::SshSpec BuildSsh(Reader& reader, const core::JobSpec& spec);
std::vector<core::SetupStep> BuildSetup(Reader& reader);
core::CommandSpec BuildCommand(Reader& reader);
core::RetrySpec BuildRetries(Reader& reader);
core::WatchdogSpec BuildWatchdog(Reader& reader);
std::vector<core::HookSpec> BuildHooks(Reader& reader);
core::SmtpSpec BuildSmtp(Reader& reader);
/// What concerns the number of hosts that the accelerator type promises.
void CheckHosts(Reader& reader, const core::JobSpec& spec);

}  // namespace jobman::config
