#pragma once

#include <fstream>
#include <string>

#include "jobman/base/state_paths.hpp"
#include "tests/support/temp_dir.hpp"

namespace jobman::test {

/// A home folder with logs, as the controller writes them.
struct Logs {
  base::StatePaths paths() const { return {.home = home.path()}; }
  void WriteLog(std::int64_t job, int attempt, const std::string& stage, int host,
                const std::string& text) const {
    const auto path = paths().LogPath(job, attempt, stage, host);
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::app | std::ios::binary) << text;
  }
  TempDir home = {};
};

}  // namespace jobman::test
