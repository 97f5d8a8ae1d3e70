#pragma once

#include <string>
#include <vector>

#include "tests/e2e/error_cloud.hpp"

namespace jobman::test {

/// What happens to one job.
struct Scene {
  std::string name = {};   ///< of the job
  std::string about = {};  ///< the origin of the error
  std::string zone = {};
  std::string type = {};
  Trouble trouble = {};
};

/// One for each recorded error of tests/data/errors and each call that may meet it: by file, and in
/// the order in which a job meets the calls.
std::vector<Scene> AllScenes();

/// "requesting the slice": the call that meets the error.
std::string WordsOf(Met met);
/// Whether `create` ends with the error, before there is a job.
bool IsOfTheCommand(const Scene& scene);
/// Whether `create` tells the error, and goes on.
bool IsNoted(const Scene& scene);

/// The name of its job file.
std::string FileOf(const Scene& scene);
/// The job file. After a refusal the job waits for weeks, so that the screens are those of the
/// first one.
std::string JobText(const Scene& scene, const std::string& endpoint, const std::string& token);

}  // namespace jobman::test
