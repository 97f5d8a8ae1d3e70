#pragma once

#include "config/check.hpp"

namespace jobman::config {

// The keys of a queue file, level by level. Source: the queue files of Python jobman, version 3.

/// The file: `repos`; `defaults` and `accelerators` are checked by the next two.
const Format& QueueFileFormat();
/// `defaults`: what holds for every task that does not say otherwise.
const Format& QueueDefaultsFormat();
/// `accelerators.<type>`: the same for its tasks, and `tasks`, whose items are checked by the next.
const Format& QueueAcceleratorFormat();
const Format& QueueTaskFormat();

}  // namespace jobman::config
