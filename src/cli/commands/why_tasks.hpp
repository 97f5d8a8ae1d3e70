#pragma once

#include <string>
#include <vector>

#include "cli/app.hpp"
#include "cli/views/explanation.hpp"

namespace jobman::cli {

/// What `jobman why` says of the tasks that the words mean, in their order. `controller`: whether
/// one is running. Errors as those of client::FindTasks(), but that a task of several queues is
/// explained in each.
base::Result<std::vector<views::Explanations::OfTask>> ExplainTasks(
    const client::Context& context, const std::vector<std::string>& words, bool controller);

}  // namespace jobman::cli
