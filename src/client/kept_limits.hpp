#pragma once

#include <memory>
#include <string>
#include <vector>

#include "jobman/client/context.hpp"

namespace jobman::client {

/// Limits of one TPU generation in a project.
struct KeptLimits {
  std::vector<ports::TpuLimit> limits = {};
  bool kept = false;  ///< from the store's cache: more may have been granted by now
};

struct LimitQuestion {
  core::CloudSpec cloud = {};
  std::string project = {};
  std::string generation = {};  ///< "v4"
  bool anew = false;            ///< whatever is kept; that counts if the service does not answer
  base::Duration within = {};   ///< how long the service may take
};

/// Asks Service Usage; what it says is kept in the store's cache for a day
/// (kOffersKept), unless it is of a simulator or says nothing of the generation. `api` is of that
/// cloud.
base::Task<base::Result<KeptLimits>> LimitsOf(Context context, std::shared_ptr<ports::QuotaApi> api,
                                              LimitQuestion question);

}  // namespace jobman::client
