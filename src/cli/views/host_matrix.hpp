#pragma once

#include <string>
#include <vector>

#include "jobman/ports/records.hpp"
#include "jobman/ui/table.hpp"

namespace jobman::cli::views {

/// Hosts by stages of one attempt.
struct HostMatrix {
  struct Host {
    int number = 0;
    core::HostAddress address = {};
    std::vector<ui::Cell> stages = {};  ///< beside HostMatrix::stages; empty text: no part in it
  };
  std::vector<std::string> stages = {};  ///< in the order they run
  std::vector<Host> hosts = {};
};

/// What is recorded of the job's present attempt, and what runs now.
HostMatrix MakeHostMatrix(const core::Job& job, const std::vector<ports::ExitRecord>& exits);

}  // namespace jobman::cli::views
