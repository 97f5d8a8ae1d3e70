#pragma once

#include <asio/io_context.hpp>
#include <asio/signal_set.hpp>

#include "jobman/base/task.hpp"

namespace jobman::client {

/// While it exists, SIGINT and SIGTERM do not end the process. Ignored ones stay ignored: whoever
/// started this process wants it so.
class Interrupts {
 public:
  explicit Interrupts(asio::io_context& loop);
  /// Until one of them comes.
  base::Task<void> Wait();

 private:
  asio::signal_set signals_;
};

}  // namespace jobman::client
