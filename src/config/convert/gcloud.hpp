#pragma once

#include <string_view>

#include "config/convert/draft.hpp"
#include "config/diagnostics.hpp"
#include "jobman/config/load.hpp"

namespace jobman::config::convert {

/// Converts `gcloud [alpha|beta] compute tpus tpu-vm create NAME FLAGS`, or the same of
/// queued-resources, as it would be typed into a shell. `source` is the text in `out`; files that
/// a flag names are looked for in its folder. Flags: config/gcloud_flags.hpp.
/// Source: the reference of gcloud, "gcloud compute tpus tpu-vm create" and "gcloud compute tpus
/// queued-resources create".
void ConvertGcloud(std::string_view text, int source, const Defaults& defaults, Draft& draft,
                   Diagnostics& out);

}  // namespace jobman::config::convert
