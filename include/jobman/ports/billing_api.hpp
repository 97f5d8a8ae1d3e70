#pragma once

#include <string>
#include <vector>

#include "jobman/base/task.hpp"

namespace jobman::ports {

/// What is asked of a table that Cloud Billing exports to BigQuery.
struct BillingQuestion {
  enum class By { kSku, kService, kDay };
  std::string table = {};    ///< "project.dataset.table"
  std::string runs_in = {};  ///< the project that pays for the query
  std::string project = {};  ///< whose cost; empty: of every project of the export
  base::TimePoint from = {};
  By by = By::kSku;  ///< a row for each day, and each SKU or service
};

/// What something has cost on a day, after credits.
struct BilledDay {
  std::string day = {};   ///< "2026-01-31", UTC
  std::string what = {};  ///< the SKU or service; empty with By::kDay
  double cost = 0;
  std::string currency = {};
  friend bool operator==(const BilledDay&, const BilledDay&) = default;
};

struct BillingAnswer {
  std::vector<BilledDay> rows = {};  ///< by day, then by cost, the highest first
  bool more = false;                 ///< there are more rows than are read
};

/// The billing of projects, read only. The object must outlive its coroutines.
class BillingApi {
 public:
  virtual ~BillingApi() = default;
  /// One query. kNotFound: no such table; kPermissionDenied: these credentials may not read it, or
  /// may not run queries.
  virtual base::Task<base::Result<BillingAnswer>> Ask(BillingQuestion question) = 0;
};

}  // namespace jobman::ports
