#pragma once

#include <string>

namespace jobman::config {

/// What `jobman init` knows already. Empty members take an example value.
struct InitOptions {
  std::string name = {};
  std::string cloud = {};  ///< "google", "local" or a URL
  std::string project = {};
  std::string zone = {};
  std::string accelerator = {};
  std::string pricing = {};
};

/// A job file with a comment for each part, which loads as it is (with cloud "google" given a
/// project).
std::string InitTemplate(const InitOptions& options);

}  // namespace jobman::config
