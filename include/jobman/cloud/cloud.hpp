#pragma once

#include <memory>
#include <optional>

#include "jobman/auth/token_source.hpp"
#include "jobman/base/clock.hpp"
#include "jobman/cloud/decorators.hpp"
#include "jobman/core/job_spec.hpp"
#include "jobman/ports/slice_api.hpp"

namespace jobman::cloud {

struct CloudOptions {
  /// The only credential to use, for a simulator. Nothing: what the spec and `env` name.
  std::optional<std::string> token = {};
  auth::Env env = base::GetEnv;
  RetryPolicy retry = {};
  /// Nothing: RatePolicy's defaults, and 100 times as much for this machine's loopback.
  std::optional<RatePolicy> rate = {};
};

/// A client of one endpoint with one identity, ready to use. Must be destroyed before the loop's
/// io_context and after the last coroutine that uses it.
class Cloud {
 public:
  ports::SliceApi& slices() { return *slices_; }
  ports::Catalog& catalog() { return *catalog_; }
  ports::Maintenance& maintenance() { return *maintenance_; }

 private:
  friend Result<std::unique_ptr<Cloud>> MakeCloud(asio::any_io_executor executor,
                                                  core::CloudSpec spec, CloudOptions options);
  std::unique_ptr<base::Clock> clock_ = {};
  std::unique_ptr<ports::SliceApi> slices_ = {};
  // Owned by slices_.
  ports::Catalog* catalog_ = nullptr;
  ports::Maintenance* maintenance_ = nullptr;
};

/// Composes transport, credentials, API and decorators. `spec.endpoint` is a URL: the caller has
/// resolved "local"; an empty one is core::kDefaultEndpoint. Errors: kInvalidArgument for an
/// unusable endpoint, kUnauthenticated when there are no credentials.
Result<std::unique_ptr<Cloud>> MakeCloud(asio::any_io_executor executor, core::CloudSpec spec,
                                         CloudOptions options = {});

}  // namespace jobman::cloud
