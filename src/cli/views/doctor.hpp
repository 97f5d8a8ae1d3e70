#pragma once

#include <string>
#include <vector>

#include "jobman/base/json.hpp"
#include "jobman/client/doctor.hpp"
#include "jobman/ui/text.hpp"

namespace jobman::cli::views {

/// A line of `doctor`: mark, check, what was found; below it the cure.
std::string RenderText(const client::Finding& finding, const ui::Style& style);

/// `doctor`, when all checks are done.
struct Diagnosis {
  std::vector<client::Finding> findings = {};
};
std::string RenderText(const Diagnosis& view, const ui::Style& style);
/// The checks that failed.
std::string RenderQuiet(const Diagnosis& view);
base::OrderedJson ToJson(const Diagnosis& view);

}  // namespace jobman::cli::views
