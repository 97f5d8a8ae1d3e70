#pragma once

#include <map>
#include <string>
#include <vector>

#include "jobman/client/context.hpp"

namespace jobman::client {

/// A wish for some jobs.
struct WishOrder {
  std::vector<std::string> jobs = {};  ///< numbers or names
  core::Wish wish = core::Wish::kRun;
  core::SetupWish setup = core::SetupWish::kAsNeeded;
};
/// A job whose wish was set.
struct Wished {
  core::JobId job = {};
  bool true_already = false;     ///< the job already is as wished
  bool at_next_attempt = false;  ///< it runs on, and its next attempt uses what was changed
  std::string ends_first = {};   ///< of a worker that is to stop: the task that it ends before
};

/// Sets the wish of each job, and wakes the controller. Jobs that will run again get the secrets
/// that this process has. Writes nothing if one of the jobs is not found, or
/// cannot skip its setup.
base::Task<base::Result<std::vector<Wished>>> SetWishes(Context context, WishOrder order);

/// Whether jobs with this wish run again.
bool RunsAgain(core::Wish wish);
/// The values that the environment has for a job's secrets, to be sent to the controller.
std::map<std::string, std::string> SecretValues(const core::JobSpec& spec);

}  // namespace jobman::client
