#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/app.hpp"
#include "cli/views/task_row.hpp"
#include "jobman/client/queue.hpp"

namespace CLI {  // NOLINT(readability-identifier-naming): of the library
class App;
}

namespace jobman::cli {

/// Queues and their workers, as a command sees them.
struct QueueSight {
  std::vector<client::SeenQueue> queues = {};
  std::vector<client::QueueWorker> workers = {};
  /// Of each queue, by its file.
  std::map<std::string, std::vector<core::TaskWorker>> workers_of = {};
};
/// See client::SeeQueues().
base::Result<QueueSight> LookAtQueues(const client::Context& context,
                                      const std::optional<std::string>& file);
/// Of a queue of `sight`. `ahead`: how many tasks are taken before it, if that is known.
views::TaskRow RowOf(const QueueSight& sight, const client::TaskPlace& place, base::TimePoint now,
                     std::optional<int> ahead = {});

/// What gets a worker for a task of that queue file: "jobman worker start -a v4-8 -z us-central2-b
/// --queue tasks.yaml".
std::string HowToStartAWorker(const core::TaskDefinition& task, const std::string& file);

/// The tasks that a command is for: TASK... of any queue, or of that of --queue or --submitted.
struct TaskChoice {
  std::vector<std::string> words = {};
  std::optional<std::string> file = {};  ///< client::SeeQueues()
};
void AddTaskChoice(CLI::App& command, const std::shared_ptr<TaskChoice>& choice);

/// Asks on a terminal before something is done to these tasks. Without a terminal nobody is asked,
/// so that scripts go on. `doing`: "delete". Says so and returns false if the user says no.
bool ConfirmTasks(App& app, const std::string& doing, const std::vector<client::TaskPlace>& tasks);

/// Changes the tasks in the store, and shows what became of them. `file`: as in TaskChoice.
base::Result<int> ChangeAndShow(App& app, const client::Context& context,
                                const std::optional<std::string>& file,
                                const std::vector<client::TaskPlace>& tasks,
                                const client::TaskEdit& edit);
/// Erases the tasks with their logs, and shows which. One that cannot be erased does not keep the
/// others from it; the exit code is that of the first.
base::Result<int> EraseAndShow(App& app, const client::Context& context,
                               const std::vector<client::TaskPlace>& tasks);

}  // namespace jobman::cli
