#pragma once

#include <optional>
#include <string>
#include <vector>

#include "jobman/base/json.hpp"
#include "jobman/config/load.hpp"
#include "jobman/ui/text.hpp"

namespace jobman::cli::views {

/// `jobman config check`: the problems of some job files.
struct CheckedFiles {
  struct File {
    std::string name = {};
    std::vector<std::string> jobs = {};  ///< names of those that it makes, if it is valid
    /// Of all their slices together, USD at list price; nothing: one is not known.
    std::optional<double> per_hour = {};
    std::vector<config::Problem> problems = {};
    std::vector<config::Problem> warnings = {};  ///< of a valid file
  };
  std::vector<File> files = {};
  bool AllGood() const;
};
/// Problems and warnings with line and caret; for files without problems "FILE: job NAME is valid",
/// or "FILE: 5 jobs are valid: NAME-0 to NAME-4", and what their slices cost: ", 64.40 USD/h".
std::string RenderText(const CheckedFiles& view, const ui::Style& style);
/// The names of the invalid files.
std::string RenderQuiet(const CheckedFiles& view);
base::OrderedJson ToJson(const CheckedFiles& view);

/// `jobman config show`: a job file with all values resolved.
struct ResolvedFile {
  config::Loaded loaded = {};
  bool origins = false;
};
std::string RenderText(const ResolvedFile& view, const ui::Style& style);
std::string RenderQuiet(const ResolvedFile& view);
base::OrderedJson ToJson(const ResolvedFile& view);

}  // namespace jobman::cli::views
