#pragma once

#include <memory>
#include <string>

#include "jobman/auth/token_source.hpp"
#include "jobman/base/json.hpp"
#include "jobman/core/job_spec.hpp"
#include "jobman/http/transport.hpp"
#include "jobman/ports/bucket_list.hpp"

namespace jobman::cloud {

using base::Result;

/// The JSON API of Cloud Storage over HTTP: buckets.list and buckets.get. Nothing is retried.
/// Source: Cloud Storage documentation, JSON API v1, resource Buckets.
class BucketList final : public ports::BucketList {
 public:
  /// `endpoint` is a base URL without a path.
  BucketList(std::unique_ptr<http::Transport> transport, std::string endpoint);
  base::Task<Result<std::vector<ports::BucketSeen>>> OfProject(std::string project) override;
  base::Task<Result<ports::BucketSeen>> One(std::string bucket) override;

 private:
  std::unique_ptr<http::Transport> transport_;
  std::string endpoint_;
};

/// The Cloud Monitoring API v3 over HTTP: projects.timeSeries.list of the metric
/// storage.googleapis.com/storage/total_bytes, the newest value of the last two days, summed over
/// storage classes. Nothing is retried.
/// Source: Cloud Monitoring documentation, API v3 projects.timeSeries.list, and "Google Cloud
/// metrics": total_bytes is measured once a day, and not for buckets without objects.
class BucketSizes final : public ports::BucketSizes {
 public:
  BucketSizes(std::unique_ptr<http::Transport> transport, std::string endpoint);
  base::Task<Result<std::map<std::string, std::int64_t>>> OfProject(std::string project,
                                                                    base::TimePoint now) override;

 private:
  std::unique_ptr<http::Transport> transport_;
  std::string endpoint_;
};

/// Compose transport, credentials and API: Google's for Google's cloud, and what the variables
/// JOBMAN_STORAGE_ENDPOINT and JOBMAN_MONITORING_ENDPOINT name for any. Null for another cloud.
/// Credentials and errors as of MakeBuckets().
Result<std::unique_ptr<ports::BucketList>> MakeBucketList(asio::any_io_executor executor,
                                                          const core::CloudSpec& spec,
                                                          const auth::Env& env = base::GetEnv);
Result<std::unique_ptr<ports::BucketSizes>> MakeBucketSizes(asio::any_io_executor executor,
                                                            const core::CloudSpec& spec,
                                                            const auth::Env& env = base::GetEnv);

}  // namespace jobman::cloud
