#pragma once

#include "jobman/base/task.hpp"

namespace jobman::test {

/// The result of a task that waits for nothing outside of itself: runs it to its end, here.
template <class T>
T RunNow(base::Task<T> task) {
  asio::io_context loop;
  return base::RunTask(loop, std::move(task));
}

}  // namespace jobman::test
