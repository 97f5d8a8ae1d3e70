#pragma once

#include <string>
#include <vector>

#include "jobman/base/state_paths.hpp"
#include "jobman/ports/job_store.hpp"

namespace jobman::client {

/// A zone of a project in a cloud, and how to authenticate there.
struct CloudPlace {
  core::CloudSpec cloud = {};
  core::Place place = {};
};

/// Places that the user names, in addition to those of the jobs or (`only`) instead of them.
struct PlaceWish {
  std::string endpoint = {};
  std::vector<std::string> projects = {};
  std::vector<std::string> zones = {};
  bool only = false;
};

/// Checks zones and projects as in a job file.
base::Status CheckPlaces(const PlaceWish& wish);

/// Where slices of this store may be: every place that a job names or holds a slice in, plus those
/// of `wish`, without duplicates. A field that `wish` leaves empty takes every value that the jobs
/// have. kInvalidArgument if they have none, or if `only` is all that is set.
base::Task<base::Result<std::vector<CloudPlace>>> PlacesToSearch(ports::JobStore* jobs,
                                                                 PlaceWish wish);

}  // namespace jobman::client
