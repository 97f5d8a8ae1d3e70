#pragma once

#include <string>

namespace jobman::config {

/// What `jobman init` knows. Empty members get an example value.
struct InitOptions {
  std::string name = {};
  std::string cloud = {};  ///< "google", "local" or a URL
  std::string project = {};
  std::string zone = {};
  std::string accelerator = {};
  std::string pricing = {};
};

/// A job file with a comment for each part. It loads as it is; with cloud "google" it needs a
/// project.
std::string InitTemplate(const InitOptions& options);

}  // namespace jobman::config
