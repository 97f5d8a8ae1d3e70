#pragma once

#include "jobman/base/json.hpp"
#include "jobman/core/job_spec.hpp"

namespace jobman::core {

/// The resolved spec as stored with the job and shown by `show --json`. Holds no secret values.
base::Json SpecToJson(const JobSpec& spec);
/// The inverse; absent members take their defaults, so that older rows stay readable.
base::Result<JobSpec> SpecFromJson(const base::Json& json);

}  // namespace jobman::core
