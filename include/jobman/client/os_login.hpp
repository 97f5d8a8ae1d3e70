#pragma once

#include <string>

#include "jobman/client/context.hpp"

namespace jobman::client {

/// How long a key that was imported lets its owner log in: longer than any run. A later job with
/// the key imports it again, so a key of a machine that is gone is forgotten a year later.
inline constexpr base::Duration kImportedKeyLives = std::chrono::hours{24 * 365};

/// Whether the hosts of a node ask for OS Login.
struct NodesLogin {
  bool asks = false;
  bool by_node = false;  ///< its own metadata say so, not the project's
};

/// Asks for the job's node (tpu.existing), and for the project if the node's metadata do not say. A
/// project that may not be looked at does not ask for OS Login. An error, also if there is no such
/// node yet: nobody asks again, since the login is settled when the job is stored.
base::Task<base::Result<NodesLogin>> AskForNodesLogin(Context context, core::JobSpec spec);

/// For a job with ssh.os_login: adds its public key to the login profile of the account whose
/// credentials it uses, and makes the name that the profile gives the job's ssh.user. Its nodes
/// have enable-oslogin: TRUE by the job file's rules. Returns a sentence for the user; empty, and
/// nothing is done, for other jobs. kFailedPrecondition for a cloud without OS Login, such as the
/// simulator; other errors as of ports::LoginApi::ImportKey(). The key must be there. `spec` must
/// outlive the coroutine.
base::Task<base::Result<std::string>> LetKeyIn(Context context, core::JobSpec* spec);

}  // namespace jobman::client
