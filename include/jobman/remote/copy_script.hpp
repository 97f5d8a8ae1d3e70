#pragma once

#include <string>
#include <vector>

namespace jobman::remote {

/// Exit code of `pack` when one of the files does not exist.
inline constexpr int kCopyMissing = 3;

/// The command for a host's login shell that packs, unpacks, commits or discards a copy: the words
/// are those at the head of src/remote/copy.sh.
std::string CopyCommand(std::vector<std::string> words);

}  // namespace jobman::remote
