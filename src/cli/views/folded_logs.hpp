#pragma once

#include <string>

#include "jobman/base/json.hpp"
#include "jobman/core/job.hpp"
#include "jobman/ui/folding.hpp"
#include "jobman/ui/text.hpp"

namespace jobman::cli::views {

/// `jobman logs --fold`: hosts with the same output, together.
struct FoldedLogs {
  core::JobId job = {};
  int attempt = 0;
  std::string stage = {};
  ui::Folding folding = {};
};
std::string RenderText(const FoldedLogs& view, const ui::Style& style);
std::string RenderQuiet(const FoldedLogs& view);
base::OrderedJson ToJson(const FoldedLogs& view);

}  // namespace jobman::cli::views
