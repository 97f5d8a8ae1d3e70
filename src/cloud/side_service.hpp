#pragma once

#include <memory>
#include <string>

#include "jobman/auth/token_source.hpp"
#include "jobman/base/json.hpp"
#include "jobman/core/job_spec.hpp"
#include "jobman/http/transport.hpp"

namespace jobman::cloud {

using base::Result;

/// A service of the cloud beside Cloud TPU, which is asked with the same credentials.
struct SideService {
  const char* name = "";      ///< "Cloud Storage"
  const char* google = "";    ///< base URL of Google's
  const char* variable = "";  ///< the environment variable that names another one
};

inline constexpr SideService kStorage = {.name = "Cloud Storage",
                                         .google = "https://storage.googleapis.com",
                                         .variable = "JOBMAN_STORAGE_ENDPOINT"};

/// Its base URL for that cloud; empty if the cloud has none, as a simulator. One that could be
/// overheard is kInvalidArgument.
Result<std::string> EndpointOf(const SideService& service, const core::CloudSpec& spec,
                               const auth::Env& env);
/// Carries requests to it. A server on this machine gets no credentials, unless it is the cloud
/// itself. Errors as of MakeCloud().
Result<std::unique_ptr<http::Transport>> TransportTo(asio::any_io_executor executor,
                                                     const core::CloudSpec& spec,
                                                     const std::string& endpoint,
                                                     const auth::Env& env);
/// The account whose credentials TransportTo() sends there; empty if it sends none, or only the
/// server knows whose they are.
Result<std::string> AccountOf(asio::any_io_executor executor, const core::CloudSpec& spec,
                              const std::string& endpoint, const auth::Env& env);
/// ErrorFromResponse() without the advice about Cloud TPU. What helps against refused credentials
/// and a rate limit is the same for every service, and remains.
base::Error ErrorOf(const SideService& service, const http::Response& response);
/// That the answer is none of the service's; kUnavailable, as a proxy may have answered.
base::Error NotItsAnswer(const SideService& service, const std::string& why);
/// One exchange: the JSON object of an answer whose status is 2xx. Errors begin with `doing`, "GET
/// /path", and are those of the transport, ErrorOf() and NotItsAnswer(). The transport and the
/// service must outlive it.
base::Task<Result<base::Json>> AskService(http::Transport* transport, const SideService* service,
                                          http::Request request, std::string doing);

}  // namespace jobman::cloud
