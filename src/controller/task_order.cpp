#include "controller/task_order.hpp"

#include <fmt/format.h>

#include <map>

#include "jobman/base/strings.hpp"
#include "jobman/core/late_names.hpp"
#include "jobman/remote/task_script.hpp"

namespace jobman::controller {
namespace {

/// Of the run in hand or, without one, of the next.
int TaskNumber(const core::Job& job) {
  const bool in_hand = job.stage && job.stage->task;
  return job.task_runs + (in_hand ? 0 : 1);
}

core::RunId TaskRunId(const core::Job& job, const std::string& store_id, int host) {
  return {.on = core::OnHost(store_id, job, host),
          .what = core::WorkRun{.number = TaskNumber(job)}};
}

/// STORE.j000042, which is the same on all hosts of the job.
std::string JobWord(const core::Job& job, const std::string& store_id) {
  return fmt::format("{}.j{}", store_id, core::FormatJobId(job.id));
}

/// The job's spec with late names, also those in the task's script, which is its command.
core::JobSpec BindNames(core::Job job, const core::TaskDefinition& task,
                        const std::string& job_dir) {
  job.spec.command.cmd = task.run;
  return core::BindLateNames(job, job_dir);
}

/// The same for every worker that runs the task: where hosts share a home folder, the next one goes
/// on from what the last one saved. Runs at the same time must not share it.
std::string CheckpointFolder(const core::Job& job, const core::TaskDefinition& task,
                             const std::string& store_id) {
  const bool one_at_a_time = task.max_jobs == 1 && job.stage && job.stage->task;
  const std::string whose = one_at_a_time
                                ? fmt::format("{}.q{}", store_id, job.stage->task->queue.value)
                                : JobWord(job, store_id);
  return fmt::format("~/.jobman/checkpoints/{}.{}", whose, base::SafeFileName(task.id));
}

/// Variables that the worker's own runs do not have, or have with another value.
std::map<std::string, std::string> TaskEnvironment(const core::Job& job,
                                                   const core::TaskDefinition& task, int run,
                                                   int host, const std::string& store_id) {
  return {
      {"JOBMAN_TASK_ID", task.id},
      {"JOBMAN_TASK_RUN", std::to_string(run)},
      {"JOBMAN_NUM_WORKERS", std::to_string(job.slice->hosts.size())},
      {"JOBMAN_WORKER_ID", std::to_string(host)},
      {"JOBMAN_CHECKPOINT_DIR", CheckpointFolder(job, task, store_id)},
  };
}

}  // namespace

std::vector<int> TaskHosts(const core::Job& job, const core::TaskDefinition& task) {
  std::vector<int> hosts;
  const int count = job.slice ? static_cast<int>(job.slice->hosts.size()) : 0;
  for (int host = 0; host < count; ++host) {
    if (task.workers.Contains(host)) hosts.push_back(host);
  }
  return hosts;
}

std::string TaskRunOn(const core::Job& job, const std::string& store_id, int host) {
  return core::FormatRunId(TaskRunId(job, store_id, host));
}

base::Result<remote::RunOrder> TaskOrderFor(const core::Job& job, const core::TaskDefinition& task,
                                            int run, int host, const OrderSources& here) {
  if (!task.workers.Contains(host)) {
    return base::InvalidArgument(fmt::format("task {} does not run on host {}", task.id, host),
                                 "workers of the task names the hosts on which it runs");
  }
  const core::JobSpec bound = BindNames(job, task, here.job_dir);
  const core::RunId id = TaskRunId(job, here.store_id, host);
  remote::RunOrder order = BareOrder(job, bound, id, host, here);
  order.replaces = order.run_id;
  for (const auto& [name, value] : TaskEnvironment(job, task, run, host, here.store_id))
    order.env[name] = value;
  for (const auto& [name, value] : bound.environment) order.env[name] = value;
  JM_TRY(AddWork(job, bound, id.on, here.secret, order));
  const std::string of_job = JobWord(job, here.store_id);
  order.script =
      remote::TaskScript({.run_key = fmt::format("{}.t{}", of_job, TaskNumber(job)),
                          .workdir = task.workdir.empty() ? ".jobman/work/" + of_job : task.workdir,
                          .url = task.url,
                          .branch = task.branch,
                          .env = task.env,
                          .run = bound.command.cmd});
  return order;
}

}  // namespace jobman::controller
