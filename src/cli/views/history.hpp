#pragma once

#include <string>
#include <vector>

#include "jobman/base/json.hpp"
#include "jobman/ports/records.hpp"
#include "jobman/ui/text.hpp"

namespace jobman::cli::views {

/// `jobman history`: events of the journal, oldest first. Their texts are never cut.
struct History {
  std::vector<ports::Event> events = {};
  bool details = false;  ///< with the kind of each line
};
std::string RenderText(const History& view, const ui::Style& style);
/// Only the texts of the events.
std::string RenderQuiet(const History& view);
base::OrderedJson ToJson(const History& view);

}  // namespace jobman::cli::views
