#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "jobman/base/files.hpp"
#include "jobman/core/job_spec.hpp"
#include "jobman/ports/billing_api.hpp"
#include "jobman/ports/bucket_list.hpp"
#include "jobman/ports/login_api.hpp"
#include "jobman/ports/project_api.hpp"
#include "jobman/ports/quota_api.hpp"

namespace jobman::client {

/// The file system of the state folder.
struct Disk {
  std::string type = {};         ///< "ext4"; empty if it is not known
  bool locks_stay_here = false;  ///< other machines do not see this one's locks
};

/// How Diagnose() and commands about a project look at what other modules know. Each may be empty:
/// then nothing is known.
struct Probes {
  /// Finds the credentials for the cloud, and gets a token.
  std::function<base::Task<base::Result<ports::LoginSeen>>(core::CloudSpec)> log_in = {};
  /// The clock of the cloud's server.
  std::function<base::Task<base::Result<base::TimePoint>>(core::CloudSpec)> server_time = {};
  /// Null if the cloud has none.
  std::function<base::Result<std::shared_ptr<ports::ProjectApi>>(asio::any_io_executor,
                                                                 const core::CloudSpec&)>
      open_projects = {};
  /// Null if the cloud has no OS Login.
  std::function<base::Result<std::shared_ptr<ports::LoginApi>>(asio::any_io_executor,
                                                               const core::CloudSpec&)>
      open_logins = {};
  std::function<base::Result<std::shared_ptr<ports::QuotaApi>>(asio::any_io_executor,
                                                               const core::CloudSpec&)>
      open_quotas = {};
  std::function<base::Result<std::shared_ptr<ports::BillingApi>>(asio::any_io_executor,
                                                                 const core::CloudSpec&)>
      open_billing = {};
  std::function<base::Result<std::shared_ptr<ports::BucketList>>(asio::any_io_executor,
                                                                 const core::CloudSpec&)>
      open_bucket_list = {};
  std::function<base::Result<std::shared_ptr<ports::BucketSizes>>(asio::any_io_executor,
                                                                  const core::CloudSpec&)>
      open_bucket_sizes = {};
  std::function<Disk(const base::Path&)> look_at_disk = {};
  /// Of this program and its libraries: {"libcurl", "7.88.1"}.
  std::function<std::vector<std::pair<std::string, std::string>>()> versions = {};
};

}  // namespace jobman::client
