#pragma once

#include <string>
#include <string_view>

#include "jobman/core/job.hpp"

namespace jobman::core {

// ${tpu.name}, ${job.id}, ${job.user}, ${job.dir} and ${tpu.num_workers} in what runs on the hosts:
// the command, setup steps, environment variables. They are known when a run begins; until then the
// text keeps them. What they mean is what they mean in Python jobman.

/// Whether the key is bound late: "job.id".
bool IsLateName(std::string_view key);

/// With job.worker_num: auto, ${job.name} and ${job.worker_num} are known when the job is stored.
bool IsNumberedName(std::string_view key);
/// Gives what runs on the hosts the job's name, which is that of the spec, and its number.
void BindNumber(JobSpec& spec, const std::string& number);

/// The job's spec with the names of this attempt in what runs on the hosts: of its slice, the job's
/// id in six digits, who created the job, its folder on this machine, and how many hosts there are.
JobSpec BindLateNames(const Job& job, const std::string& job_dir);

}  // namespace jobman::core
