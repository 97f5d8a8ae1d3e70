#pragma once

#include <string_view>

#include "config/diagnostics.hpp"
#include "config/value.hpp"
#include "jobman/config/load.hpp"

namespace jobman::config {

/// Translates tpu.flags (flags of `gcloud compute tpus tpu-vm create` and `queued-resources
/// create`, which jobman v3 passed on) to the keys of the same meaning. Passes over those that say
/// how gcloud itself behaves. Reports flags without such a key, with the nearest one, and flags
/// that contradict a key.
void TranslateFlags(Value& root, const Defaults& defaults, Diagnostics& out);

/// The same for the flags of a whole command: items of `list` such as "--zone=a" or "--spot", each
/// at its place, become keys of `tpu`.
void TranslateFlagsInto(Value& tpu, const Value& list, const Defaults& defaults, Diagnostics& out);

/// Whether the next word is the flag's value; false for one that is not known.
bool FlagTakesValue(std::string_view name);
bool IsKnownFlag(std::string_view name);

}  // namespace jobman::config
