#pragma once

#include <string>
#include <vector>

#include "cli/app.hpp"

namespace jobman::cli {

/// Asks on a terminal before something is done to several jobs, or to one that is not over. Without
/// a terminal nobody is asked, so that scripts go on. `doing`: "delete". Says so and returns false
/// if the user says no.
bool Confirm(App& app, const std::string& doing, const std::vector<core::Job>& jobs);
/// The same, but asks about any job, one that is over included.
bool ConfirmEach(App& app, const std::string& doing, const std::vector<core::Job>& jobs);

}  // namespace jobman::cli
