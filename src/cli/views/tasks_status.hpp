#pragma once

#include <string>
#include <vector>

#include "cli/views/queue_table.hpp"
#include "jobman/core/job.hpp"

namespace jobman::cli::views {

/// `jobman status`: workers, and how many tasks are in which state.
struct TasksStatus {
  struct Worker {
    core::JobId id = {};
    std::string name = {};
    std::string state = {};
    std::string status = {};
    std::string phase = {};  ///< PhaseWord()
    std::string accelerator = {};
    std::string zone = {};
    std::string slice = {};  ///< empty: it holds none
    std::string file = {};   ///< of its queue; empty: submitted tasks
    std::string task = {};   ///< what it runs; empty: nothing
    int run = 0;             ///< of that task
    core::TimePoint since = {};
    std::string why = {};
  };
  struct Queue {
    std::string file = {};
    std::string title = {};
    TaskCounts counts = {};
    int workers = 0;
    std::string error = {};
    int refused = 0;
  };
  std::vector<Worker> workers = {};
  std::vector<Queue> queues = {};
  core::TimePoint now = {};
};
/// "idle", "busy", "preparing", "draining".
std::string_view PhaseWord(core::WorkerPhase phase);
std::string RenderText(const TasksStatus& view, const ui::Style& style);
/// The numbers of the workers, one per line.
std::string RenderQuiet(const TasksStatus& view);
base::OrderedJson ToJson(const TasksStatus& view);

}  // namespace jobman::cli::views
