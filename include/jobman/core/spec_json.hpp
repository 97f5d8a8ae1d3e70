#pragma once

#include "jobman/base/json.hpp"
#include "jobman/core/job_spec.hpp"

namespace jobman::core {

/// The spec in the keys and values of a job file: as it is stored with the job, as `show --json`
/// and `config show` print it. Values that are empty are left out; secrets are named, never
/// contained.
base::OrderedJson SpecToJson(const JobSpec& spec);

/// The inverse; absent keys take their defaults. A key or a value that this program does not know
/// is an error with kNewerStore: to run a job without it would be to run another job.
base::Result<JobSpec> SpecFromJson(const base::Json& json);

}  // namespace jobman::core
