#pragma once

#include <string_view>

#include "jobman/base/files.hpp"
#include "jobman/base/result.hpp"

namespace jobman::base {

/// What is checked, for the message: "jobman's home folder is not safe: ...", and what the user can
/// name in its place: "set JOBMAN_HOME to a folder of your own".
struct TrustedUse {
  std::string_view what = {};
  std::string_view instead = {};
};

/// Whether only this user and root can change what is at `path`, as OpenSSH asks of its files: it
/// and all folders above belong to one of them, and neither their group nor others may write there.
/// A folder above may be shared if it is sticky, as /tmp is; a user's private group, which has
/// nobody else, counts as the user. In a user namespace that does not map root, a folder above may
/// be one of the users that are not mapped. Symbolic links are followed, and must be theirs too.
/// What does not exist passes: then only its folders matter. kFailedPrecondition with the cure.
Status CheckTrusted(const Path& path, TrustedUse use);

/// The same of the files that a shell command runs, as far as it names them by a path: "./tell.sh
/// x", "sh -e ~/bin/token", "cd / && timeout 5 /opt/tell". Relative ones are below `folder`. What
/// is found on PATH is the system's.
Status CheckTrustedCommand(std::string_view command, const Path& folder, TrustedUse use);

/// Whether a file of this user can be read by all users of the machine: its mode says so, and all
/// folders above let them in. Access control lists are not looked at.
bool IsOpenToOthers(const Path& path);

}  // namespace jobman::base
