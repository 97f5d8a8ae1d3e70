#pragma once

#include <string>
#include <string_view>

#include "config/convert/draft.hpp"
#include "config/diagnostics.hpp"

namespace jobman::config::convert {

/// Converts a batch script of Slurm: its #SBATCH lines, up to the first line that is neither empty
/// nor a comment, and the script itself, which becomes the command. `source` is the text in `out`,
/// `name` that of a job without one.
/// Source: sbatch(1) of Slurm 23.11.
void ConvertSbatch(std::string_view text, int source, const std::string& name, Draft& draft,
                   Diagnostics& out);

}  // namespace jobman::config::convert
