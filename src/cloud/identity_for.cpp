#include "cloud/identity_for.hpp"

#include "jobman/base/clock.hpp"
#include "jobman/http/curl_transport.hpp"
#include "jobman/http/logging_transport.hpp"
#include "jobman/http/redacting_transport.hpp"

namespace jobman::cloud {

Result<auth::Identity> IdentityFor(asio::any_io_executor executor, const core::CloudSpec& spec,
                                   const std::string& endpoint, const CloudOptions& options) {
  static const base::SystemClock clock;
  if (options.token) {
    const char* const origin = "the simulator's sim.json";
    return auth::Identity{.tokens = auth::MakeFixedTokenSource(*options.token, origin),
                          .origin = origin};
  }
  const auth::TokenSettings settings{.endpoint = endpoint,
                                     .token_file = spec.token_file,
                                     .token_command = spec.token_command,
                                     .credentials_file = spec.credentials_file,
                                     .impersonate = spec.impersonate_service_account};
  auth::Machine machine{.clock = &clock, .env = options.env};
  machine.caches = &auth::CachesOf(executor);
  machine.open_transport = [executor]() -> Result<std::unique_ptr<http::Transport>> {
    JM_ASSIGN_OR_RETURN(
        auto wire, http::MakeCurlTransport(executor, {.max_response_bytes = auth::kLongestAnswer}));
    return http::MakeLoggingTransport(http::MakeRedactingTransport(std::move(wire)));
  };
  return auth::ChooseIdentity(settings, std::move(machine));
}

}  // namespace jobman::cloud
