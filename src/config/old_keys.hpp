#pragma once

#include "config/diagnostics.hpp"
#include "config/value.hpp"

namespace jobman::config {

/// What earlier tools called otherwise: `command.run` is command.cmd, `tpu.acceleratorType`
/// tpu.accelerator, `loop` job.loop, and `setup: {modules: [venv]}` names job.env_type. What is
/// written under its own name as well keeps that value.
void TranslateOldKeys(Value& root, Diagnostics& out);

/// Makes lists of what is short for one: a text in `tpu.tags` and the lists of docker, a map in
/// docker.env_vars. For the whole tree, before Interpolate(), which looks at the items of lists.
void ExpandLists(Value& root);

}  // namespace jobman::config
