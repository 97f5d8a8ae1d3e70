#pragma once

#include <memory>
#include <string>

#include "jobman/auth/token_source.hpp"
#include "jobman/base/json.hpp"
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
  base::Task<Result<base::Json>> Post(std::string url, std::string type, std::string body);
  base::Task<Result<std::string>> Account();

  std::unique_ptr<http::Transport> transport_;
  Place place_;
};

/// Composes transport, credentials and API for a cloud: Google's for Google's cloud, and what the
/// variable JOBMAN_OSLOGIN_ENDPOINT names for any, which then has /tokeninfo, too. Null for another
/// cloud, such as a simulator. Credentials and errors as of MakeProjects().
Result<std::unique_ptr<ports::LoginApi>> MakeLogins(asio::any_io_executor executor,
                                                    const core::CloudSpec& spec,
                                                    const auth::Env& env = base::GetEnv);

}  // namespace jobman::cloud
