#pragma once

#include <sys/types.h>

#include <asio/any_io_executor.hpp>
#include <memory>
#include <string>
#include <vector>

#include "jobman/base/handle.hpp"
#include "jobman/base/task.hpp"

namespace jobman::client {

/// A tar of this machine that reads or writes an archive while it is sent or received. Killed, if
/// it still runs, with the object.
class TarProcess {
 public:
  /// `words` follow "tar"; -1 is /dev/null. kFailedPrecondition if it cannot be started.
  static base::Result<std::unique_ptr<TarProcess>> Start(asio::any_io_executor executor,
                                                         std::vector<std::string> words, int in,
                                                         int out);
  ~TarProcess();
  TarProcess(const TarProcess&) = delete;
  TarProcess& operator=(const TarProcess&) = delete;

  /// Its exit code, once it has ended: 128 and the signal when one ended it.
  base::Task<int> End();
  /// The beginning of what it wrote to stderr.
  const std::string& said() const;

  struct Talk;

 private:
  TarProcess(pid_t pid, std::shared_ptr<Talk> talk) : pid_(pid), talk_(std::move(talk)) {}
  pid_t pid_;
  int exit_code_ = 0;
  std::shared_ptr<Talk> talk_;
  base::CancelScope scope_ = {};
};

}  // namespace jobman::client
