#pragma once

#include <optional>
#include <string>
#include <vector>

#include "jobman/base/result.hpp"
#include "jobman/config/foreign.hpp"

namespace CLI {  // NOLINT(readability-identifier-naming): of the library
class App;
}

namespace jobman::cli {

/// --from-gcloud, --from-sky, --from-sbatch: a job as another tool describes it.
struct FromOptions {
  std::string gcloud = {};
  std::string sky = {};
  std::string sbatch = {};
};
/// Adds the three. They must live as long as `command`.
void AddFromOptions(CLI::App& command, FromOptions& options);

/// What is to be converted, if one of the options was given; standard input is read for "-".
/// kInvalidArgument for several of them.
base::Result<std::optional<config::Foreign>> ForeignOf(const FromOptions& options);

/// The job files of a command that takes `files` or one of the options: those files, or what the
/// converted one is called in messages. kInvalidArgument for both, and for neither: `missing` says
/// what the command lacks then, `command` how it is called.
struct FilesRequest {
  std::vector<std::string> files = {};
  std::string command = {};
  std::string missing = "FILE";
};
base::Result<std::vector<std::string>> FilesOf(const FilesRequest& request,
                                               const FromOptions& options);

}  // namespace jobman::cli
