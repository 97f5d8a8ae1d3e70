#pragma once

#include <string_view>

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

/// The id of a task: it is a word of the command line, and names a folder.
base::Status CheckTaskId(std::string_view id);
/// How often a task may fail: 0 to 1,000,000.
base::Status CheckMaxRetries(std::string_view number);

}  // namespace jobman::config
