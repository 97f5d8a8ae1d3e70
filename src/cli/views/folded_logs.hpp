#pragma once

#include <string>

#include "cli/large_json.hpp"
#include "jobman/base/json.hpp"
#include "jobman/core/job.hpp"
#include "jobman/ui/folding.hpp"

namespace jobman::cli::views {

/// `jobman logs --fold`: hosts with the same output, together.
struct FoldedLogs {
  core::JobId job = {};
  int attempt = 0;
  std::string stage = {};
  ui::Folding folding = {};
};
base::OrderedJson ToJson(const FoldedLogs& view, LargeJson& texts);

}  // namespace jobman::cli::views
