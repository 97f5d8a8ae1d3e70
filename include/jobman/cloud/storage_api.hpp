#pragma once

#include <memory>
#include <string>

#include "jobman/auth/token_source.hpp"
#include "jobman/core/job_spec.hpp"
#include "jobman/http/transport.hpp"
#include "jobman/ports/bucket_api.hpp"

namespace jobman::cloud {

using base::Result;

/// The JSON API of Cloud Storage over HTTP. Nothing is retried. A call is one exchange, and another
/// one if the bucket may not be seen: who may list the objects of a bucket, as everybody may those
/// of a public one, may ask for its layout (buckets.getStorageLayout), which has the location too.
class StorageApi final : public ports::BucketApi {
 public:
  /// `endpoint` is a base URL without a path: "https://storage.googleapis.com".
  StorageApi(std::unique_ptr<http::Transport> transport, std::string endpoint);
  base::Task<Result<core::BucketLocation>> Location(std::string bucket) override;

 private:
  base::Task<Result<core::BucketLocation>> Ask(std::string path);

  std::unique_ptr<http::Transport> transport_;
  std::string endpoint_;
};

/// Composes transport, credentials and API for the buckets that the slices of a cloud use: Google's
/// for Google's cloud, and what the variable JOBMAN_STORAGE_ENDPOINT names for any. Null for
/// another cloud, such as a simulator: it has no buckets. The credentials are those of the cloud,
/// as MakeCloud() chooses them; none go to a storage endpoint on this machine. Errors as of
/// MakeCloud(); an endpoint that could be overheard is refused.
Result<std::unique_ptr<ports::BucketApi>> MakeBuckets(asio::any_io_executor executor,
                                                      const core::CloudSpec& spec,
                                                      const auth::Env& env = base::GetEnv);

}  // namespace jobman::cloud
