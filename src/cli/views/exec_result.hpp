#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/large_json.hpp"
#include "jobman/base/json.hpp"
#include "jobman/base/time.hpp"
#include "jobman/core/job.hpp"
#include "jobman/ui/folding.hpp"
#include "jobman/ui/text.hpp"

namespace jobman::cli::views {

/// The results of `exec`.
struct ExecResult {
  struct Row {
    int host = 0;
    std::optional<int> exit_code = {};
    std::string error = {};  ///< why there is no exit code
    base::Duration took = {};
    std::string out_file = {};  ///< with --out: where its output is
    std::string err_file = {};  ///< empty: it wrote nothing to stderr
  };
  core::JobId job = {};
  std::vector<Row> rows = {};
  std::map<int, ui::HostText> output = {};  ///< only with --fold and --json
  std::string summary = {};
};

/// The folded output, if requested.
ui::Folding Folded(const ExecResult& view);
/// The table of exit codes.
std::string RenderText(const ExecResult& view, const ui::Style& style);
/// {"job": 42, "hosts": [{"host": 0, "exit_code": 0, "error": null, "seconds": 0.1,
///  "output": "..."}]}
base::OrderedJson ToJson(const ExecResult& view, LargeJson& texts);

}  // namespace jobman::cli::views
