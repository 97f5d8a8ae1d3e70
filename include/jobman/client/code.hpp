#pragma once

#include <memory>
#include <string>
#include <vector>

#include "jobman/base/files.hpp"
#include "jobman/base/state_paths.hpp"
#include "jobman/base/task.hpp"
#include "jobman/core/setup_spec.hpp"

namespace jobman::client {

/// A folder that is removed, with its content, with the object.
class ScratchFolder {
 public:
  static base::Result<std::shared_ptr<ScratchFolder>> Make(const base::Path& parent);
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const base::Path& path() const { return path_; }

 private:
  explicit ScratchFolder(base::Path path) : path_(std::move(path)) {}
  base::Path path_;
};

/// The code of a job as it was taken: see docs/adr/0019-code.md.
struct TakenCode {
  std::shared_ptr<ScratchFolder> folder = {};  ///< of the archive
  base::Path archive = {};
  core::CodeSnapshot snapshot = {};
  std::vector<std::string> notes = {};  ///< what the user should know
};

/// Packs the files that the section names, below the folder `scratch`, which must exist. The same
/// files give the same archive. Every step is bounded in time, and asks for no password. Errors:
/// kInvalidArgument if there are no files, one cannot be read, the archive is larger than allowed
/// or the repository has no such ref; what git says; kDiskFull.
base::Task<base::Result<TakenCode>> TakeCode(core::CodeSpec code, base::Path scratch);

/// Puts the archive into the folder of the job; jobs with the same archive share it.
base::Status KeepCode(const TakenCode& code, const base::StatePaths& paths, std::int64_t job);

}  // namespace jobman::client
