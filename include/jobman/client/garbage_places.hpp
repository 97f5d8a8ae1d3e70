#pragma once

#include <string>
#include <vector>

#include "jobman/base/state_paths.hpp"
#include "jobman/ports/job_store.hpp"

namespace jobman::client {

/// A zone of a project in a cloud, and how to log in there.
struct CloudPlace {
  core::CloudSpec cloud = {};
  core::Place place = {};
};

/// Places that the user names beside those that the jobs used, or in their stead.
struct PlaceWish {
  std::string endpoint = {};
  std::vector<std::string> projects = {};
  std::vector<std::string> zones = {};
  bool only = false;
};

/// Zones and projects are checked as those of a job file.
base::Status CheckPlaces(const PlaceWish& wish);

/// Where slices of this store may be: every place that a job of it names or holds a slice in, and
/// what the wish adds, each once. A member that the wish leaves open takes every value that the
/// jobs have. kInvalidArgument when it leaves open what no job tells.
base::Task<base::Result<std::vector<CloudPlace>>> PlacesToSearch(ports::JobStore* jobs,
                                                                 PlaceWish wish);

}  // namespace jobman::client
