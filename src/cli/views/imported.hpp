#pragma once

#include <string>

#include "jobman/base/json.hpp"
#include "jobman/client/import.hpp"
#include "jobman/ui/text.hpp"

namespace jobman::cli::views {

/// What `import` took over, or would.
struct ImportedFolder {
  const client::Imported& imported;
  bool dry_run = false;
};

/// A table of jobs, a line for each queue, notes, and what to do next.
std::string RenderText(const ImportedFolder& view, const ui::Style& style);
/// The numbers of the jobs that were taken over.
std::string RenderQuiet(const ImportedFolder& view);
base::OrderedJson ToJson(const ImportedFolder& view);

}  // namespace jobman::cli::views
