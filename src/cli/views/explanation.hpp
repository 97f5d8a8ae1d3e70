#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/views/job_end.hpp"
#include "cli/views/task_row.hpp"
#include "jobman/base/json.hpp"
#include "jobman/client/last_words.hpp"
#include "jobman/core/explain.hpp"
#include "jobman/ui/text.hpp"

namespace jobman::cli::views {

/// `jobman why`: one explanation per job, and per task.
struct Explanations {
  struct Row {
    core::JobId id = {};
    std::string name = {};
    core::Explanation why = {};
    std::optional<client::LastWords> words = {};
    std::optional<NextCommands> ways_on = {};  ///< commands beyond the next step, as text only
  };
  struct OfTask {
    TaskRow row = {};
    std::vector<std::string> facts = {};
    std::string next_step = {};
    std::optional<client::LastWords> words = {};  ///< of a run that failed
  };
  std::vector<Row> rows = {};
  std::vector<OfTask> tasks = {};
};
std::string RenderText(const Explanations& view, const ui::Style& style);
/// Only the reasons, one line per job or task.
std::string RenderQuiet(const Explanations& view);
base::OrderedJson ToJson(const Explanations& view);

}  // namespace jobman::cli::views
