#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/garbage_places.hpp"
#include "jobman/base/json.hpp"
#include "jobman/core/ownership.hpp"
#include "jobman/ui/text.hpp"

namespace jobman::cli::views {

/// What no job owns, and what became of it.
struct Garbage {
  /// What was done about one of them.
  enum class Fate {
    kLeft,     ///< nothing: it was not asked for
    kDeleted,  ///< the service is deleting it; of a process: it has ended
    kGone,     ///< somebody else was quicker
    kSpared,   ///< a second look showed that it is owned, or another one by now
    kFailed,   ///< `error` says why
  };
  struct Slice {
    CloudPlace where = {};
    core::FoundSlice found = {};
    core::Claim claim = {};
    Fate fate = Fate::kLeft;
    std::optional<base::Error> error = {};
  };
  /// A run on a host of a slice that a job holds.
  struct Run {
    core::JobId job = {};
    int host = 0;
    std::string run_id = {};
    std::string why = {};
    Fate fate = Fate::kLeft;
    std::optional<base::Error> error = {};
  };
  /// A host that could not be asked for its runs.
  struct SilentHost {
    core::JobId job = {};
    int host = 0;
    base::Error error = {};
  };
  std::vector<CloudPlace> places = {};  ///< that were looked at
  std::vector<Slice> slices = {};
  std::vector<Run> runs = {};
  std::vector<SilentHost> silent = {};
  core::TimePoint now = {};
};

/// "deleted", for JSON; empty for kLeft.
std::string_view FateName(Garbage::Fate fate);

/// A table for each kind of owner, then the runs; empty when nothing was found.
std::string RenderText(const Garbage& view, const ui::Style& style);
/// Names of slices that no job holds or that were deleted, and ids of runs.
std::string RenderQuiet(const Garbage& view);
base::OrderedJson ToJson(const Garbage& view);

}  // namespace jobman::cli::views
