#pragma once

#include <string>

#include "jobman/client/context.hpp"
#include "jobman/config/load.hpp"

namespace jobman::client {

/// How long a key that was imported lets its owner log in: longer than any run. A later job with
/// the key imports it again, so a key of a machine that is gone is forgotten a year later.
inline constexpr base::Duration kImportedKeyLives = std::chrono::hours{24 * 365};

/// For a job on a node of the user's (tpu.existing), whose metadata are not jobman's to choose: if
/// its hosts ask for OS Login, by the node's metadata or else by the project's, and the user chose
/// neither a login name nor ssh.os_login, sets ssh.os_login, and returns a sentence on why. Else
/// the text is empty, or says that the node could not be asked. A node that is not there, and a
/// project that may not be looked at, say nothing: the controller looks again. `earlier`, if any,
/// is a job of the same call: of the same node the same holds. Both must outlive the coroutine.
base::Task<std::string> FollowNodesLogin(Context context, config::Loaded* loaded,
                                         const core::JobSpec* earlier);

/// For a job with ssh.os_login: adds its public key to the login profile of the account whose
/// credentials it uses, and makes the name that the profile gives the job's ssh.user. Its nodes
/// have enable-oslogin: TRUE by the job file's rules. Returns a sentence for the user; empty, and
/// nothing is done, for other jobs. kFailedPrecondition for a cloud without OS Login, such as the
/// simulator; other errors as of ports::LoginApi::ImportKey(). The key must be there. `spec` must
/// outlive the coroutine.
base::Task<base::Result<std::string>> LetKeyIn(Context context, core::JobSpec* spec);

}  // namespace jobman::client
