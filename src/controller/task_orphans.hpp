#pragma once

#include <vector>

#include "controller/job_book.hpp"
#include "jobman/core/task_board.hpp"

namespace jobman::controller {

/// The claims of the board whose job does not have the run: it was erased, or is in another
/// attempt, as after a store was restored from a copy. Each as the release that ends it, as
/// interrupted at `now`. Reads from the store the jobs that the book does not have. Loop thread.
base::Task<base::Result<std::vector<core::TaskRelease>>> FindOrphans(const Ports& ports,
                                                                     const JobBook& book,
                                                                     const core::TaskBoard& board,
                                                                     core::TimePoint now);

}  // namespace jobman::controller
