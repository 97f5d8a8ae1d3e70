#pragma once

#include "config/diagnostics.hpp"
#include "config/value.hpp"

namespace jobman::config {

/// What earlier tools called otherwise: `command.run` is command.cmd, `tpu.acceleratorType`
/// tpu.accelerator, `loop` job.loop, and `setup: {modules: [venv]}` names job.env_type. What is
/// written under its own name as well keeps that value.
void TranslateOldKeys(Value& root, Diagnostics& out);

}  // namespace jobman::config
