#pragma once

#include "jobman/base/json.hpp"
#include "jobman/core/job_spec.hpp"
#include "jobman/core/task.hpp"

namespace jobman::core {

/// The spec in the keys and values of a job file: as it is stored with the job, as `show --json`
/// and `config show` print it. Values that are empty are left out; secrets are named, never
/// contained.
base::OrderedJson SpecToJson(const JobSpec& spec);

/// The inverse; absent keys take their defaults. An unknown key or value is an error with
/// kNewerStore: without it, a different job would run.
base::Result<JobSpec> SpecFromJson(const base::Json& json);

/// The same for what a queue file says of a task.
base::OrderedJson TaskDefinitionToJson(const TaskDefinition& definition);
base::Result<TaskDefinition> TaskDefinitionFromJson(const base::Json& json);

}  // namespace jobman::core
