#pragma once

#include <string>

#include "jobman/base/json.hpp"
#include "jobman/client/garbage.hpp"
#include "jobman/ui/text.hpp"

namespace jobman::cli::views {

/// What `gc` found, and what was done about it.
struct FoundGarbage {
  const client::Garbage& garbage;
  core::TimePoint now = {};
};

/// "deleted", for JSON; empty for kLeft.
std::string_view FateName(client::Garbage::Fate fate);

/// A table for each kind of owner, then the runs; empty if nothing was found.
std::string RenderText(const FoundGarbage& view, const ui::Style& style);
/// Names of slices that no job holds or that were deleted, and ids of runs.
std::string RenderQuiet(const FoundGarbage& view);
base::OrderedJson ToJson(const FoundGarbage& view);

}  // namespace jobman::cli::views
