#pragma once

#include <fcntl.h>
#include <sys/file.h>

#include <filesystem>
#include <string>

#include "jobman/base/files.hpp"
#include "jobman/base/handle.hpp"

namespace jobman::test {

/// The folder of a running simulator: its lock is held as long as this lives.
class SimFolder {
 public:
  explicit SimFolder(base::Path dir) : dir_(std::move(dir)) {
    std::filesystem::create_directories(dir_);
    std::filesystem::permissions(dir_, std::filesystem::perms::owner_all);
    lock_ = base::UniqueFd(open((dir_ / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    flock(lock_.get(), LOCK_EX | LOCK_NB);
  }
  /// Writes sim.json.
  void Describe(const std::string& text) const {
    (void)base::WriteFileAtomic(dir_ / "sim.json", text, 0600).ok();
  }
  /// As when it is killed: sim.json stays.
  void Die() { lock_.Reset(); }

 private:
  base::Path dir_;
  base::UniqueFd lock_ = {};
};

}  // namespace jobman::test
