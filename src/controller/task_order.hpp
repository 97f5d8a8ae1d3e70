#pragma once

#include <string>
#include <vector>

#include "controller/run_order.hpp"
#include "jobman/core/task.hpp"

namespace jobman::controller {

/// The hosts of the job's slice that run the task, in their order. Empty if the slice has none of
/// `workers`.
std::vector<int> TaskHosts(const core::Job& job, const core::TaskDefinition& task);

/// The id of run number `run` of the task on that host, by this attempt of the job:
///
///     f5d33d77c34a.j000042.train-000042-a3.h0.t7-0123456789ab-a3
///
/// The hash is of the task's id. A run of a task has a number that it never has again, so no two
/// runs have one id.
std::string TaskRunOn(const core::Job& job, const core::TaskDefinition& task, int run,
                      const std::string& store_id, int host);

/// The start of the ids of all runs of tasks of this job on that host.
std::string TaskRunsOn(const core::Job& job, const std::string& store_id, int host);

/// What run number `run` of the task runs on that host. The job has a slice and is at a stage. It
/// is a run as that of a command: detached, with the limits, variables and secrets of the job; and
/// with JOBMAN_TASK_ID, _TASK_RUN, _NUM_WORKERS (the hosts of the slice), _WORKER_ID (this host's
/// number), and a JOBMAN_CHECKPOINT_DIR of this task. It first ends what runs of other tasks of
/// this job have left on the host, so that one order at a time may be sent to a host.
///
/// kInvalidArgument when the host is none of the task's, kFailedPrecondition when a secret has no
/// value.
base::Result<remote::RunOrder> TaskOrderFor(const core::Job& job, const core::TaskDefinition& task,
                                            int run, int host, const OrderSources& here);

}  // namespace jobman::controller
