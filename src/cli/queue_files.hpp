#pragma once

#include "jobman/config/queue_file.hpp"
#include "jobman/ports/queue_files.hpp"

namespace jobman::cli {

/// Queue files on the disk, interpolated with the environment of this process.
class DiskQueueFiles final : public ports::QueueFiles {
 public:
  base::Result<ports::QueueFileStamp> Look(const std::string& path) override;
  base::Task<base::Result<ports::QueueFileContent>> Read(std::string path) override;
};

}  // namespace jobman::cli
