#pragma once

#include "jobman/ports/queue_files.hpp"

namespace jobman::cli {

/// Queue files of this machine's disk, interpolated with this process's environment.
class LocalQueueFiles final : public ports::QueueFiles {
 public:
  base::Task<std::optional<ports::QueueFileStamp>> Look(std::string file) override;
  base::Task<ports::QueueFileContent> Read(std::string file) override;
};

}  // namespace jobman::cli
