#pragma once

#include <string>
#include <vector>

#include "jobman/ports/records.hpp"
#include "jobman/ui/table.hpp"

namespace jobman::cli::views {

/// The hosts of one attempt, with their result in each stage.
struct HostMatrix {
  struct Host {
    int number = 0;
    core::HostAddress address = {};
    std::vector<ui::Cell> stages = {};  ///< one per HostMatrix::stages; empty text: no part in it
  };
  std::vector<std::string> stages = {};  ///< in the order in which they run
  std::vector<Host> hosts = {};
};

/// The recorded exits of the job's current attempt, and its current stage.
HostMatrix MakeHostMatrix(const core::Job& job, const std::vector<ports::ExitRecord>& exits);

}  // namespace jobman::cli::views
