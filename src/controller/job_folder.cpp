#include "jobman/controller/job_folder.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "jobman/base/files.hpp"

namespace jobman::controller {
namespace {

constexpr std::size_t kLongestOwner = 4096;

base::Path OwnerFile(const base::Path& folder) {
  return folder / "job";
}

/// What no other job of this number has.
std::string OwnerText(const core::Job& job) {
  return fmt::format("{}\n{}\n", job.name, base::FormatRfc3339(job.created_at));
}

bool Exists(const base::Path& path) {
  std::error_code problem;
  return std::filesystem::exists(path, problem);
}

/// A name that no job's folder has.
base::Path PlaceBeside(const base::Path& folder) {
  for (int number = 1;; ++number) {
    base::Path beside = folder;
    beside += fmt::format(".{}", number);
    if (!Exists(beside)) return beside;
  }
}

base::Status MoveAside(const base::Path& folder) {
  std::error_code failed;
  std::filesystem::rename(folder, PlaceBeside(folder), failed);
  if (failed) return base::FromErrno(failed.value(), "moving " + folder.string() + " aside");
  return base::Ok();
}

base::Status MarkAsOwn(const base::Path& folder, const core::Job& job) {
  JM_TRY(base::EnsureDir(folder));
  return base::WriteFileAtomic(OwnerFile(folder), OwnerText(job));
}

}  // namespace

bool IsOwnFolder(const base::StatePaths& paths, const core::Job& job) {
  const auto owner = base::ReadRegularFile(OwnerFile(paths.JobDir(job.id.value)), kLongestOwner);
  return !owner.ok() || *owner == OwnerText(job);
}

base::Status TakeFolder(const base::StatePaths& paths, const core::Job& job) {
  const base::Path folder = paths.JobDir(job.id.value);
  if (!IsOwnFolder(paths, job)) JM_TRY(MoveAside(folder));
  return Exists(OwnerFile(folder)) ? base::Ok() : MarkAsOwn(folder, job);
}

base::Status TakeNewFolder(const base::StatePaths& paths, const core::Job& job) {
  const base::Path folder = paths.JobDir(job.id.value);
  // The controller may have begun to work on the job.
  const bool begun = Exists(OwnerFile(folder)) && IsOwnFolder(paths, job);
  if (begun) return base::Ok();
  if (Exists(folder)) JM_TRY(MoveAside(folder));
  return MarkAsOwn(folder, job);
}

}  // namespace jobman::controller
