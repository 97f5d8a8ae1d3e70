#pragma once

#include "config/reader.hpp"
#include "jobman/core/job_spec.hpp"

namespace jobman::config {

/// Completes a spec that was read from a tree: fills in what is absent and depends on other keys or
/// on this machine, and reports what does not fit together. The spec is worth something only if
/// nothing was reported.
void ResolveSpec(Reader& reader, core::JobSpec& spec);

// Its parts, each in a file of its own. Later ones use what earlier ones found.

/// Slice: runtime version, project, startup script.
void ResolveTpu(Reader& reader, core::JobSpec& spec);
/// Login name and key.
void ResolveSsh(Reader& reader, core::JobSpec& spec);
/// Names of setup steps, secrets of the command.
void ResolveStages(Reader& reader, core::JobSpec& spec);
/// Hooks and the mail server.
void ResolveHooks(Reader& reader, core::JobSpec& spec);

}  // namespace jobman::config
