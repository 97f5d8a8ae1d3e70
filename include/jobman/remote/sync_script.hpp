#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace jobman::remote {

/// What every answer begins with; what login shells print comes before it.
inline constexpr std::string_view kSyncGreeting{"jobman-sync 1\0", 14};
/// Exit code of `apply` when some files may have been moved, but not all.
inline constexpr int kSyncPartly = 4;
/// Exit code of `apply ... from` when the other host did not give the archive.
inline constexpr int kSyncNotGiven = 5;

/// The command for a host's login shell that looks at a folder, hashes files of it or changes it:
/// the words are those at the head of src/remote/sync.sh.
std::string SyncCommand(std::vector<std::string> words);

}  // namespace jobman::remote
