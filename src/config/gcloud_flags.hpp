#pragma once

#include "config/diagnostics.hpp"
#include "config/value.hpp"
#include "jobman/config/load.hpp"

namespace jobman::config {

/// Translates tpu.flags (flags of `gcloud compute tpus tpu-vm create` and `queued-resources
/// create`, which jobman v3 passed on) to the keys of the same meaning. Passes over those that say
/// how gcloud itself behaves. Reports flags without such a key, with the nearest one, and flags
/// that contradict a key.
void TranslateFlags(Value& root, const Defaults& defaults, Diagnostics& out);

}  // namespace jobman::config
