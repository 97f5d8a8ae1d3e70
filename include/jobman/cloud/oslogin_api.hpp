#pragma once

#include <memory>
#include <string>

#include "jobman/auth/token_source.hpp"
#include "jobman/core/job_spec.hpp"
#include "jobman/http/transport.hpp"
#include "jobman/ports/login_api.hpp"

namespace jobman::cloud {

using base::Result;

/// The Cloud OS Login API v1 over HTTP (users.importSshPublicKey). Nothing is retried.
class OsLoginApi final : public ports::LoginApi {
 public:
  struct Place {
    std::string endpoint = {};    ///< base URL without a path: "https://oslogin.googleapis.com"
    std::string token_info = {};  ///< URL that tells whose token it was sent
    std::string account = {};     ///< whose credentials `transport` sends; empty: ask token_info
  };
  OsLoginApi(std::unique_ptr<http::Transport> transport, Place place);
  base::Task<Result<ports::ImportedLogin>> ImportKey(ports::KeyToImport key) override;

 private:
  base::Task<Result<std::string>> Account();

  std::unique_ptr<http::Transport> transport_;
  Place place_;
};

/// Whose token `transport` sends, as an e-mail address: what the server of tokens at `url` says of
/// it; empty if it does not say that, as the token may not be for e-mail addresses. The transport
/// must outlive the coroutine.
base::Task<Result<std::string>> AccountOfToken(http::Transport* transport, std::string url);
/// Where that is asked for a cloud; empty: nowhere. Errors as of MakeLogins().
Result<std::string> TokenInfoOf(const core::CloudSpec& spec, const auth::Env& env = base::GetEnv);

/// Composes transport, credentials and API for a cloud: Google's for Google's cloud, and what the
/// variable JOBMAN_OSLOGIN_ENDPOINT names for any, which then has /tokeninfo, too. Null for another
/// cloud, such as a simulator. Credentials and errors as of MakeProjects().
Result<std::unique_ptr<ports::LoginApi>> MakeLogins(asio::any_io_executor executor,
                                                    const core::CloudSpec& spec,
                                                    const auth::Env& env = base::GetEnv);

}  // namespace jobman::cloud
