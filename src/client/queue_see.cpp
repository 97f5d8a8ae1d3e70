// What a command sees of queues: the records, and what their files say by now.
#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>
#include <utility>

#include "jobman/base/files.hpp"
#include "jobman/base/hash.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/client/queue.hpp"
#include "jobman/config/queue_file.hpp"
#include "jobman/core/reconcile.hpp"

namespace jobman::client {
namespace {

constexpr std::string_view kUsualFile = "tasks.yaml";
/// Clocks of file systems are coarse, and not quite ours.
constexpr base::Duration kDoubt = std::chrono::seconds{2};

bool IsSubmitted(const ports::Queue& queue) {
  return queue.file == ports::kSubmittedQueue;
}

/// Whether the file may say something else than what a controller read.
bool MayHaveChanged(const ports::Queue& queue) {
  if (queue.reading.at == core::TimePoint{}) return true;
  std::error_code failed;
  const auto written = std::filesystem::last_write_time(queue.file, failed);
  if (failed) return true;
  return std::chrono::file_clock::to_sys(written) > queue.reading.at - kDoubt;
}

/// Puts what the file says now over the records.
void Preview(SeenQueue& seen, const Context& context) {
  config::QueueFileRequest request{.file = seen.queue.file,
                                   .defaults = config::SystemDefaults(context.paths.home)};
  auto text = base::ReadRegularFile(seen.queue.file);
  if (text.ok()) {
    const ports::QueueReading& reading = seen.queue.reading;
    if (reading.error.empty() && reading.fingerprint == base::Sha256Hex(*text)) return;
    request.text = *std::move(text);
  }
  const config::QueueFileResult read = config::ReadQueueFile(request);
  seen.error.clear();
  if (!read.list) {
    seen.error =
        read.problems.empty() ? "it cannot be read" : config::LineOf(read.problems.front());
    return;
  }
  seen.refused = read.list->refused;
  seen.warnings.clear();
  for (const config::Problem& warning : read.warnings) {
    seen.warnings.push_back(config::LineOf(warning));
  }
  for (core::Task& task : core::SyncTasks(*read.list, seen.board, seen.queue.id, context.Now())) {
    seen.previewed.insert(task.definition.id);
    seen.board.Put(std::move(task));
  }
}

base::Task<base::Result<SeenQueue>> SeeQueue(Context context, ports::Queue queue) {
  SeenQueue seen{.error = queue.reading.error,
                 .refused = queue.reading.refused,
                 .warnings = queue.reading.warnings};
  if (queue.id != core::QueueId{}) {
    JM_CO_ASSIGN_OR_RETURN(ports::TasksRead read,
                           co_await context.stores.queues->Tasks(queue.id, 0));
    seen.board = core::TaskBoard(std::move(read.tasks));
    seen.set_aside = std::move(read.set_aside);
  }
  seen.queue = std::move(queue);
  if (!IsSubmitted(seen.queue) && MayHaveChanged(seen.queue)) Preview(seen, context);
  co_return seen;
}

bool IsFile(const base::Path& path) {
  std::error_code failed;
  return std::filesystem::is_regular_file(path, failed);
}

/// With links of its folder followed, but not the file itself.
std::string UnfollowedPath(const base::Path& file) {
  const base::Path folder = file.has_parent_path() ? file.parent_path() : base::Path(".");
  return (base::RealPath(folder) / file.filename()).string();
}

/// Of all queues, those that are asked for.
base::Result<std::vector<ports::Queue>> Wanted(std::vector<ports::Queue> all,
                                               const std::optional<std::string>& file) {
  if (!file) {
    if (all.empty() && IsFile(kUsualFile)) {
      all.push_back({.file = base::RealPath(kUsualFile).string()});
    }
    return all;
  }
  const bool submitted = *file == ports::kSubmittedQueue;
  const std::string real = submitted ? *file : base::RealPath(base::ExpandHome(*file)).string();
  // A queue keeps its name when its file becomes a link.
  const std::string named = submitted ? *file : UnfollowedPath(base::ExpandHome(*file));
  const bool known =
      std::any_of(all.begin(), all.end(), [&](const auto& queue) { return queue.file == named; });
  const std::string& wanted = known ? named : real;
  std::erase_if(all, [&wanted](const ports::Queue& queue) { return queue.file != wanted; });
  if (all.empty() && submitted) {
    return base::NotFound("no task was submitted", "jobman queue shows the queues of the store");
  }
  if (all.empty() && !IsFile(real)) {
    return base::NotFound("there is no queue file " + *file,
                          "jobman queue shows the queues of the store");
  }
  if (all.empty()) all.push_back({.file = real});
  return all;
}

/// A job that is over serves nothing; most jobs of an old store are.
bool IsOver(const ports::JobSummary& row) {
  constexpr std::array kOutcomes = {core::Outcome::kSucceeded, core::Outcome::kFailed,
                                    core::Outcome::kCancelled, core::Outcome::kDeleted};
  return std::any_of(kOutcomes.begin(), kOutcomes.end(), [&row](core::Outcome outcome) {
    return row.state == core::StateName(core::JobState(core::Done{.outcome = outcome}));
  });
}

/// As the controller knows it: the file may have become a link since.
std::string FileOf(const core::Job& job) {
  const std::string& config = job.spec.queue->config;
  return config.empty() ? std::string(ports::kSubmittedQueue) : config;
}

}  // namespace

base::Task<base::Result<std::vector<QueueWorker>>> ReadWorkers(Context context) {
  const ports::JobFilter all{};
  JM_CO_ASSIGN_OR_RETURN(auto rows, co_await context.stores.jobs->List(all));
  std::erase_if(rows, IsOver);
  std::vector<QueueWorker> workers;
  for (const ports::JobSummary& row : rows) {
    auto job = co_await context.stores.jobs->Get(row.id);
    if (!job.ok()) continue;
    auto worker = core::WorkerOf(*job);
    if (!worker) continue;
    std::string file = FileOf(*job);
    workers.push_back(
        {.job = *std::move(job), .worker = *std::move(worker), .file = std::move(file)});
  }
  std::sort(workers.begin(), workers.end(),
            [](const auto& a, const auto& b) { return a.job.id < b.job.id; });
  co_return workers;
}

std::vector<core::TaskWorker> WorkersOf(const std::vector<QueueWorker>& workers,
                                        const std::string& file) {
  std::vector<core::TaskWorker> found;
  for (const QueueWorker& one : workers) {
    if (one.file == file) found.push_back(one.worker);
  }
  return found;
}

std::string QueueTitle(const ports::Queue& queue) {
  return IsSubmitted(queue) ? "submitted tasks" : queue.file;
}

base::Task<base::Result<std::vector<SeenQueue>>> SeeQueues(Context context,
                                                           std::optional<std::string> file) {
  JM_CO_ASSIGN_OR_RETURN(auto all, co_await context.stores.queues->Queues());
  JM_CO_ASSIGN_OR_RETURN(const auto wanted, Wanted(std::move(all), file));
  std::vector<SeenQueue> seen;
  for (const ports::Queue& queue : wanted) {
    JM_CO_ASSIGN_OR_RETURN(SeenQueue one, co_await SeeQueue(context, queue));
    seen.push_back(std::move(one));
  }
  co_return seen;
}

base::Task<base::Result<bool>> IsTaskOfStore(Context context, std::string id) {
  JM_CO_ASSIGN_OR_RETURN(const auto queues, co_await context.stores.queues->Queues());
  for (const ports::Queue& queue : queues) {
    const auto task = co_await context.stores.queues->GetTask(queue.id, id);
    const auto& refused = queue.reading.refused;
    const bool named = std::any_of(refused.begin(), refused.end(),
                                   [&id](const core::RefusedTask& one) { return one.id == id; });
    if (task.ok() || named) co_return true;
  }
  co_return false;
}

}  // namespace jobman::client
