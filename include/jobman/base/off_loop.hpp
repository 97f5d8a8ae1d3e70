#pragma once

#include <functional>

#include "jobman/base/task.hpp"

namespace jobman::base {

/// Runs `work`, which may block, in a thread of its own, and lets the loop go on meanwhile. When
/// `limit` passes or the coroutine is cancelled, calls `interrupt`, which must make `work` end at
/// once, and waits for its end: nothing that `work` uses is used after this task. False if `limit`
/// passed first; kResourceExhausted when no thread can be started. No signal is handled in the
/// thread.
///
/// For what has no other way: see docs/adr/0002-one-loop.md.
Task<Result<bool>> RunOffLoop(std::function<void()> work, std::function<void()> interrupt,
                              Duration limit);

/// The same for what may block for ever and cannot be interrupted: a disk that hangs. When the
/// coroutine is cancelled, the thread is left alone, and ends with the process at the latest: so
/// `work` owns all that it uses, and uses nothing of the loop. Do not begin the same work again
/// while it goes on.
Task<Status> RunAndLeave(std::function<void()> work);

}  // namespace jobman::base
