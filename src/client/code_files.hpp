#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "jobman/base/files.hpp"
#include "jobman/base/task.hpp"

namespace jobman::client {

/// A file of a snapshot.
struct CodeFile {
  std::string name = {};   ///< within the folder
  std::int64_t bytes = 0;  ///< 0 for a symbolic link
};

/// What a folder gives to a snapshot.
struct CodeFiles {
  std::vector<CodeFile> files = {};  ///< sorted by name
  std::string commit = {};           ///< HEAD; empty if there is none
  bool changed = false;              ///< the files differ from it
  std::vector<std::string> notes = {};
};

/// Finds the files of a folder that belong to a snapshot: those that git does not ignore, without
/// what the patterns exclude. `scratch` is a folder for git's own files. kInvalidArgument if there
/// are none, or one cannot be read.
base::Task<base::Result<CodeFiles>> FindCodeFiles(base::Path folder,
                                                  std::vector<std::string> exclude,
                                                  base::Path scratch);

/// Which of these names within a folder git ignores there, tracked or not, or the patterns exclude:
/// they need not exist. A name with a slash at its end is a folder. `scratch` is a folder of this
/// call alone. Without git, none.
base::Task<base::Result<std::set<std::string>>> FindIgnored(base::Path folder,
                                                            std::vector<std::string> names,
                                                            std::vector<std::string> exclude,
                                                            base::Path scratch);

}  // namespace jobman::client
