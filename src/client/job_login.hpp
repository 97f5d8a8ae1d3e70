#pragma once

#include "jobman/client/create_jobs.hpp"

namespace jobman::client {

/// What SettleLogin() may use instead of asking. Both, if any, must outlive the coroutine.
struct LoginSources {
  const CheckedFile* earlier = nullptr;    ///< of the same call
  const core::JobSpec* present = nullptr;  ///< of the job, if the file revises one
  bool may_follow = true;                  ///< the node of a job may decide
  bool may_ask = true;                     ///< the node may be asked, if nothing is known of it
};

/// How the job's user logs in to its hosts. A job on a node of the user's (tpu.existing), whose
/// metadata are not jobman's to choose, follows that node: if its hosts ask for OS Login, and the
/// user chose neither a login name nor ssh.os_login, sets ssh.os_login. A revised job whose node
/// cannot be asked keeps its login. Then lets the key in, see LetKeyIn(). Notes say why, and what
/// could not be asked. `checked` must outlive the coroutine.
base::Task<base::Status> SettleLogin(Context context, CheckedFile* checked, LoginSources sources);

}  // namespace jobman::client
