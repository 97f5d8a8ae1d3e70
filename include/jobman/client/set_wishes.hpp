#pragma once

#include <map>
#include <string>
#include <vector>

#include "jobman/client/context.hpp"

namespace jobman::client {

/// What a user asks of jobs.
struct WishOrder {
  std::vector<std::string> jobs = {};  ///< numbers or names
  core::Wish wish = core::Wish::kRun;
  bool redo_setup = false;
};
/// A job that a wish was written for.
struct Wished {
  core::JobId job = {};
  bool true_already = false;  ///< there is nothing to do for it
};

/// Writes the wish for each of the jobs, and wakes the controller. Jobs that run again get the
/// secrets that this process knows. Fails when one of the jobs is not found, before anything is
/// written.
base::Task<base::Result<std::vector<Wished>>> SetWishes(Context context, WishOrder order);

/// Whether the wish has its jobs run again.
bool RunsAgain(core::Wish wish);
/// The values that the environment has for the secrets of a job, for the controller.
std::map<std::string, std::string> SecretValues(const core::JobSpec& spec);

}  // namespace jobman::client
