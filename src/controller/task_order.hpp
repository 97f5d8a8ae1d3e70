#pragma once

#include <string>
#include <vector>

#include "controller/run_order.hpp"
#include "jobman/core/task.hpp"

namespace jobman::controller {

/// The hosts of the job's slice that run the task, in their order. Empty if the slice has none of
/// `workers`.
std::vector<int> TaskHosts(const core::Job& job, const core::TaskDefinition& task);

/// The id, on that host, of the job's run of a task: the one in hand or, without one, the next.
std::string TaskRunOn(const core::Job& job, const std::string& store_id, int host);

/// What run number `run` of the task runs on that host. The job has a slice and is at a stage. It
/// is a run as that of a command: detached, with the limits, variables and secrets of the job; and
/// with JOBMAN_TASK_ID, _TASK_RUN, _NUM_WORKERS (the hosts of the slice), _WORKER_ID (this host's
/// number), and a JOBMAN_CHECKPOINT_DIR of this task. It first ends what earlier runs of tasks of
/// this job have left on the host, so that one order at a time may be sent to a host.
///
/// kInvalidArgument when the host is none of the task's, kFailedPrecondition when a secret has no
/// value.
base::Result<remote::RunOrder> TaskOrderFor(const core::Job& job, const core::TaskDefinition& task,
                                            int run, int host, const OrderSources& here);

}  // namespace jobman::controller
