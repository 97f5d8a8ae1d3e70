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

/// Variables that the worker's own runs do not have, or have with another value.
std::map<std::string, std::string> TaskEnvironment(const core::Job& job,
                                                   const core::TaskDefinition& task, int run,
                                                   int host, const std::string& store_id) {
  return {
      {"JOBMAN_TASK_ID", task.id},
      {"JOBMAN_TASK_RUN", std::to_string(run)},
      {"JOBMAN_NUM_WORKERS", std::to_string(job.slice->hosts.size())},
      {"JOBMAN_WORKER_ID", std::to_string(host)},
      {"JOBMAN_CHECKPOINT_DIR",
       "~/.jobman/checkpoints/" + JobWord(job, store_id) + "." + base::SafeFileName(task.id)},
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
