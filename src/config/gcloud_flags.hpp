#pragma once

#include "config/diagnostics.hpp"
#include "config/value.hpp"

namespace jobman::config {

/// Translates tpu.flags (flags of `gcloud compute tpus tpu-vm create` and `queued-resources
/// create`, which jobman v3 passed on) to the keys of the same meaning. Reports flags without such
/// a key, and flags that contradict a key.
void TranslateFlags(Value& root, Diagnostics& out);

}  // namespace jobman::config
