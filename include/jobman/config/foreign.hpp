#pragma once

#include <optional>
#include <string>

#include "jobman/base/files.hpp"

namespace jobman::config {

/// Which tool describes the job.
enum class ForeignKind {
  kGcloud,  ///< a command line: gcloud compute tpus tpu-vm create, or queued-resources create
  kSky,     ///< a task of SkyPilot, YAML
  kSbatch,  ///< a batch script of Slurm
};

/// A job as another tool describes it, to be converted to a job file.
struct Foreign {
  ForeignKind kind = ForeignKind::kGcloud;
  base::Path file = {};                  ///< of kSky and kSbatch; "-" is standard input
  std::optional<std::string> text = {};  ///< used instead of reading `file`; kGcloud always has it
  /// Whether the job file will be in a folder other than the working folder. Then the relative
  /// paths of this description, which begin at the working folder, become absolute.
  bool moves = false;
};

/// What the job file is called in messages: "task.yaml (converted)".
std::string ConvertedName(const Foreign& foreign);

}  // namespace jobman::config
