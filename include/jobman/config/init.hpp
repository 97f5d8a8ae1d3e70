#pragma once

#include <string>

#include "jobman/base/result.hpp"

namespace jobman::config {

/// Values for `jobman init`. Empty members get an example value.
struct InitOptions {
  std::string name = {};
  std::string cloud = {};  ///< "google", "local" or a URL
  std::string project = {};
  std::string zone = {};
  std::string accelerator = {};
  std::string pricing = {};
};

/// Whether each value is one that a job file may have; the error names its flag.
base::Status CheckInitOptions(const InitOptions& options);

/// A commented job file. It loads unchanged; with cloud "google" it needs a project.
std::string InitTemplate(const InitOptions& options);

}  // namespace jobman::config
