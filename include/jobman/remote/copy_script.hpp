#pragma once

#include <string>
#include <vector>

namespace jobman::remote {

/// Exit code of `pack` when one of the files does not exist.
inline constexpr int kCopyMissing = 3;
/// Exit code of `pack` when one of them changed while it was read.
inline constexpr int kCopyChanged = 10;
/// Exit code of `pack` when the archive does not begin with what is here of it.
inline constexpr int kCopyDiffers = 11;
/// Exit code of `commit` when some files may have been moved, but not all.
inline constexpr int kCopyPartly = 4;

/// The command for a host's login shell that packs, receives, commits or discards a copy: the words
/// are those at the head of src/remote/copy.sh.
std::string CopyCommand(std::vector<std::string> words);

}  // namespace jobman::remote
