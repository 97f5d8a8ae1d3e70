#pragma once

#include <string>

#include "jobman/ports/job_store.hpp"

namespace jobman::client {

/// For a new job with tpu.existing: a sentence that names the jobs of this store that use the node
/// too, with their states, and what follows (ADR 21); empty if none does. Jobs that are over do not
/// count, unless the node is their own slice, which goes when they give it back; nor do jobs of a
/// group in which one runs at a time. A record that cannot be read is left out.
base::Task<base::Result<std::string>> NoteOnNode(ports::JobStore* jobs, core::JobSpec spec);
/// The same for two jobs of one call, neither of which is stored.
std::string NoteOnNode(const core::JobSpec& earlier, const core::JobSpec& spec);

}  // namespace jobman::client
