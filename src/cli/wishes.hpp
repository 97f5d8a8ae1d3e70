#pragma once

#include <string>
#include <vector>

#include "cli/app.hpp"

namespace jobman::cli {

/// Writes a wish for each job that the user named, and wakes the controller. With `wait`, until
/// each is true; where the jobs run again, the worst of their exit codes is given back. `said` is
/// what was asked, for people: "cancelling".
struct WishOrder {
  std::vector<std::string> jobs = {};
  core::Wish wish = core::Wish::kRun;
  bool redo_setup = false;
  bool wait = false;
  std::string said = {};
};
base::Result<int> MakeWish(App& app, const WishOrder& order);
/// Waits until nothing is left to be done for the jobs but to hold their slices, telling each
/// change.
base::Status WaitUntilAtRest(App& app, const ports::Stores& stores,
                             const std::vector<core::JobId>& ids);

}  // namespace jobman::cli
