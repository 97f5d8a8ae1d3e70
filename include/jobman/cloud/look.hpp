#pragma once

#include <memory>
#include <string>

#include "jobman/auth/token_source.hpp"
#include "jobman/core/job_spec.hpp"
#include "jobman/http/transport.hpp"
#include "jobman/ports/project_api.hpp"

namespace jobman::cloud {

using base::Result;

/// Finds the credentials as MakeCloud() does, and gets a token, which is that of all others on the
/// loop. If the credentials do not name their account, as those of a user do not, the server of
/// tokens is asked for it (AccountOfToken()), for some seconds: it stays empty if that does not say
/// it.
base::Task<Result<ports::LoginSeen>> LogIn(core::CloudSpec spec, auth::Env env = base::GetEnv);

/// The clock of the API's server: the Date of any answer, a refusal too. No credentials are sent.
/// kUnavailable if there is none.
base::Task<Result<base::TimePoint>> ServerTime(core::CloudSpec spec);
/// The same over that transport.
base::Task<Result<base::TimePoint>> ServerTime(std::shared_ptr<http::Transport> transport,
                                               std::string endpoint);

}  // namespace jobman::cloud
