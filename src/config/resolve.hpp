#pragma once

#include "config/reader.hpp"
#include "jobman/core/job_spec.hpp"

namespace jobman::config {

/// Completes a spec that was read from a tree: fills in defaults that depend on other keys or on
/// this machine, and reports contradictions. The spec is valid only if nothing was reported.
void ResolveSpec(Reader& reader, core::JobSpec& spec);

// Its parts, one per file. Later ones use results of earlier ones.

/// Slice: runtime version, project, startup script.
void ResolveTpu(Reader& reader, core::JobSpec& spec);
/// Login name and key.
void ResolveSsh(Reader& reader, core::JobSpec& spec);
/// The files that travel with the job.
void ResolveCode(Reader& reader, core::CodeSpec& code);
/// The sections that prepare the hosts: gcsfuse, docker, conda, venv.
void ResolveSetup(Reader& reader, core::JobSpec& spec);
/// Names of setup steps, secrets of the command.
void ResolveStages(Reader& reader, core::JobSpec& spec);
/// Hooks and the mail server.
void ResolveHooks(Reader& reader, core::JobSpec& spec);
/// The hooks that `brevo_email` stands for; the last part of ResolveHooks().
void ResolveBrevo(Reader& reader, core::JobSpec& spec);

}  // namespace jobman::config
