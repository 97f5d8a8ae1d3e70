#pragma once

#include <optional>
#include <string>
#include <vector>

#include "jobman/client/context.hpp"
#include "jobman/core/job.hpp"
#include "jobman/core/tpu_metric.hpp"

namespace jobman::client {

/// A node, and how much of a quota it takes.
struct QuotaHolder {
  std::string node = {};
  std::string zone = {};
  std::string type = {};
  core::Pricing pricing = core::Pricing::kOnDemand;
  std::optional<core::JobId> job = {};  ///< the job of this store that its labels name
  int units = 0;                        ///< TensorCores; 0 if the type is not known here
};

/// A quota of Cloud TPU in one place, or what is held there without one that is known.
struct QuotaRow {
  /// Without a metric: no limit is known for what `holders` are.
  ports::TpuLimit limit = {};
  /// What it counts; nothing if the metric's name does not say it.
  std::optional<core::TpuMetric> counts = {};
  /// What nodes take of it, in TensorCores; nothing if that is not known. What waits in a queue is
  /// no node yet; a queued resource that is suspended has none any more, and may take quota, too.
  std::optional<std::int64_t> held = {};
  std::vector<QuotaHolder> holders = {};
};

/// External addresses in a region, or why that is not known.
struct AddressRow {
  std::string region = {};
  std::optional<ports::RegionQuota> quota = {};
  std::optional<base::Error> refused = {};
};

struct QuotaQuery {
  core::CloudSpec cloud = {};
  std::string project = {};
  std::vector<std::string> zones = {};  ///< empty: wherever there is a limit or a node
  bool all = false;                     ///< limits of 0, too, and those that are none
  bool addresses = true;                ///< Compute Engine is asked, too
};

struct QuotaAnswer {
  std::vector<QuotaRow> tpus = {};
  std::vector<AddressRow> addresses = {};
  int left_out = 0;                           ///< rows that QuotaQuery::all would add
  std::optional<base::Error> no_limits = {};  ///< why no limit of Cloud TPU is known
  std::optional<base::Error> no_nodes = {};   ///< why it is not known what is held
};

/// Asks for the limits of a project (Service Usage), what its nodes take of them (Cloud TPU), and
/// its external addresses (Compute Engine), in the regions of the rows. Each service has
/// kQuotaAnswer, the first two at the same time; what one refuses leaves the others' rows. A cloud
/// without Service Usage, such as a simulator, is kUnimplemented as `no_limits`. Nothing is kept,
/// and a simulator that is not running is not started.
base::Task<QuotaAnswer> AskQuota(Context context, QuotaQuery query);

}  // namespace jobman::client
