#pragma once

#include <memory>
#include <string>

#include "jobman/auth/token_source.hpp"
#include "jobman/base/json.hpp"
#include "jobman/core/job_spec.hpp"
#include "jobman/http/transport.hpp"
#include "jobman/ports/quota_api.hpp"

namespace jobman::cloud {

using base::Result;

/// The Service Usage API v1beta1 over HTTP: services.consumerQuotaMetrics.list, view BASIC. Nothing
/// is retried.
///
/// It was chosen over the Cloud Quotas API, which says the same, because projects have it enabled
/// from the start, and because roles that see the project's Compute Engine have its permission,
/// serviceusage.quotas.get.
///
/// Source: Service Usage API reference, REST resource services.consumerQuotaMetrics, and its client
/// libraries (ConsumerQuotaMetric, ConsumerQuotaLimit, QuotaBucket): a limit's `unit` says what it
/// is for ("1/{project}/{zone}"; "1/min/{project}" is a rate); the bucket without dimensions is for
/// each place of supportedLocations that has none of its own; effectiveLimit is an int64, written
/// as a string, and -1 if there is no limit.
class QuotaApi final : public ports::QuotaApi {
 public:
  /// `endpoint` is a base URL without a path: "https://serviceusage.googleapis.com".
  QuotaApi(std::unique_ptr<http::Transport> transport, std::string endpoint);
  base::Task<Result<std::vector<ports::TpuLimit>>> TpuLimits(std::string project) override;

 private:
  base::Task<Result<base::Json>> Ask(std::string project, std::string page);

  std::unique_ptr<http::Transport> transport_;
  std::string endpoint_;
};

/// Composes transport, credentials and API for the project of a cloud: Google's for Google's cloud,
/// and what the variable JOBMAN_QUOTA_ENDPOINT names for any. Null for another cloud, such as a
/// simulator. Credentials and errors as of MakeProjects().
Result<std::unique_ptr<ports::QuotaApi>> MakeQuotas(asio::any_io_executor executor,
                                                    const core::CloudSpec& spec,
                                                    const auth::Env& env = base::GetEnv);

}  // namespace jobman::cloud
