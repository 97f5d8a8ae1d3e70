#pragma once

#include <vector>

#include "jobman/base/json.hpp"
#include "jobman/core/job_spec.hpp"

namespace jobman::core {

// Hooks as spec_json.hpp stores them. No secret's value is in a spec, so none is here.

base::Json HooksToJson(const std::vector<HookSpec>& hooks);
base::Result<std::vector<HookSpec>> HooksFromJson(const base::Json& json);
base::Json SmtpToJson(const SmtpSpec& smtp);
base::Result<SmtpSpec> SmtpFromJson(const base::Json& json);

}  // namespace jobman::core
