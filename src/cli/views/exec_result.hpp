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
    std::string brief = {};  ///< the same for all hosts that ended alike: see ssh::Brief()
    std::string odd = {};    ///< what is odd about its output: see ui::OddOutput
    bool timed_out = false;  ///< `error` is that it took too long
    bool may_go_on = false;  ///< timed out, and `error` says what goes on
    std::optional<base::Duration> took = {};  ///< of a detached run nothing
    std::string out_file = {};                ///< with --out: where its output is
    std::string err_file = {};                ///< empty: it wrote nothing to stderr
  };
  core::JobId job = {};
  std::vector<Row> rows = {};
  std::map<int, ui::HostText> output = {};  ///< only with --fold and --json
  std::string summary = {};
  int exit_code = 0;  ///< of `exec`
};

/// The folded output, if requested.
ui::Folding Folded(const ExecResult& view);
/// The table of exit codes: a row for all hosts that ended alike.
std::string RenderText(const ExecResult& view, const ui::Style& style);
/// One line for outputs that are short and differ, "1023 hosts: meow; host 417: timeout": the most
/// frequent first, then what differs. Empty if there is only one, or if it would be no short line.
/// An error of reading the output.
base::Result<std::string> InShort(const ExecResult& view);
/// {"job": 42, "hosts": [{"host": 0, "exit_code": 0, "error": null, "timeout": false,
///  "seconds": 0.1, "odd_output": null, "output": "..."}], "summary": "1/1 ok", "exit_code": 0}
base::OrderedJson ToJson(const ExecResult& view, LargeJson& texts);

}  // namespace jobman::cli::views
