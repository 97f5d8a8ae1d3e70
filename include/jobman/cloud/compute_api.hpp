#pragma once

#include <memory>
#include <string>

#include "jobman/auth/token_source.hpp"
#include "jobman/base/json.hpp"
#include "jobman/core/job_spec.hpp"
#include "jobman/http/transport.hpp"
#include "jobman/ports/project_api.hpp"

namespace jobman::cloud {

using base::Result;

/// The Compute Engine API v1 over HTTP (projects.get, regions.get). Nothing is retried.
class ComputeApi final : public ports::ProjectApi {
 public:
  /// `endpoint` is a base URL without a path: "https://compute.googleapis.com".
  ComputeApi(std::unique_ptr<http::Transport> transport, std::string endpoint);
  base::Task<Result<std::map<std::string, std::string>>> Metadata(std::string project) override;
  base::Task<Result<std::vector<ports::RegionQuota>>> Quotas(std::string project,
                                                             std::string region) override;

 private:
  base::Task<Result<base::Json>> Ask(std::string path, std::string fields);

  std::unique_ptr<http::Transport> transport_;
  std::string endpoint_;
};

/// Composes transport, credentials and API for the project of a cloud: Google's for Google's cloud,
/// and what the variable JOBMAN_COMPUTE_ENDPOINT names for any. Null for another cloud, such as a
/// simulator. The credentials are those of the cloud, as MakeCloud() chooses them; to another
/// server of this machine than the cloud itself none go. Errors as of MakeCloud(); an endpoint that
/// could be overheard is refused.
Result<std::unique_ptr<ports::ProjectApi>> MakeProjects(asio::any_io_executor executor,
                                                        const core::CloudSpec& spec,
                                                        const auth::Env& env = base::GetEnv);

}  // namespace jobman::cloud
