#pragma once

#include <string>
#include <vector>

#include "jobman/base/files.hpp"

namespace jobman::sim {

/// The words of a bubblewrap command that make the sandbox of a host: its own namespaces (but the
/// network of this machine), no capabilities, and of this machine's files only installed programs
/// and what these need, read-only. The caller binds what belongs to the host, and then adds
/// `SandboxSeal()`.
std::vector<std::string> SandboxWords(const base::Path& bwrap);
/// Makes the rest of the root file system read-only.
std::vector<std::string> SandboxSeal();

}  // namespace jobman::sim
