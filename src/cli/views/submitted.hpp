#pragma once

#include <string>
#include <vector>

#include "jobman/base/json.hpp"
#include "jobman/client/submit_tasks.hpp"
#include "jobman/ui/text.hpp"

namespace jobman::cli::views {

/// What `task submit` stored.
struct SubmittedTasks {
  std::vector<client::Submitted> tasks = {};  ///< at least one
};

/// What was submitted and what it waits for; for each accelerator and zone that no worker has, the
/// command that starts one.
std::string RenderText(const SubmittedTasks& view, const ui::Style& style);
/// The ids.
std::string RenderQuiet(const SubmittedTasks& view);
/// {"tasks": [{"id": "lr1", ..., "waits_for": "waits for 1 worker ..."}]}: a task as
/// core::TaskToJson() writes it.
base::OrderedJson ToJson(const SubmittedTasks& view);

}  // namespace jobman::cli::views
