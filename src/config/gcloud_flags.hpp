#pragma once

#include "config/diagnostics.hpp"
#include "config/value.hpp"

namespace jobman::config {

/// Replaces tpu.flags (flags of `gcloud compute tpus tpu-vm create` and `queued-resources create`,
/// as jobman v3 passed them on) by the keys of the same meaning. A flag without such a key, or one
/// that contradicts a key, is reported by name.
void TranslateFlags(Value& root, Diagnostics& out);

}  // namespace jobman::config
