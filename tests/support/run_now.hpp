#pragma once

#include "jobman/base/task.hpp"

namespace jobman::test {

/// Runs a task that waits for nothing outside, and returns its result.
template <class T>
T RunNow(base::Task<T> task) {
  asio::io_context loop;
  return base::RunTask(loop, std::move(task));
}

}  // namespace jobman::test
