#pragma once

#include <string>
#include <vector>

#include "jobman/config/foreign.hpp"
#include "jobman/config/init.hpp"
#include "jobman/config/load.hpp"

namespace jobman::config {

/// A job file that says what another tool's description of the job said.
struct Conversion {
  std::string text = {};  ///< the job file, with comments; empty if there are problems
  /// Keys that every job must have, and that the file lacks.
  std::vector<std::string> lacks = {};
  std::vector<Problem> problems = {};  ///< what has no meaning here, each by name, with its place
  std::vector<Problem> warnings = {};  ///< what was passed over, and why
};

/// Converts; the result is read like any other job file, so no check is left out. It may lack what
/// the description does not say, such as an accelerator: that may come from the user's defaults,
/// from --set, or from `more`, which takes the place of what the description says. Reads the file
/// of `foreign`, and those that gcloud's --metadata-from-file names; writes nothing. Never throws.
Conversion Convert(const Foreign& foreign, const Defaults& defaults, const InitOptions& more = {});

}  // namespace jobman::config
