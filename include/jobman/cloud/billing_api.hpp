#pragma once

#include <memory>
#include <string>

#include "jobman/auth/token_source.hpp"
#include "jobman/base/json.hpp"
#include "jobman/core/job_spec.hpp"
#include "jobman/http/transport.hpp"
#include "jobman/ports/billing_api.hpp"

namespace jobman::cloud {

using base::Result;

/// What one query may read, and so cost: beyond it BigQuery refuses the query before it runs.
inline constexpr std::int64_t kMostBytesBilled = std::int64_t{10} << 30;

/// The BigQuery API v2 over HTTP: jobs.query, then jobs.getQueryResults while it runs, a bounded
/// number of times. Nothing is retried.
///
/// Sources: BigQuery documentation, REST v2 jobs.query (QueryRequest: parameterMode,
/// queryParameters, maximumBytesBilled, timeoutMs; jobComplete, rows of f and v) and
/// jobs.getQueryResults; Cloud Billing documentation, "Structure of Standard data export"
/// (usage_start_time, service.description, sku.description, project.id, cost, credits.amount,
/// currency); "Structure of Cloud Billing data export tables" (gcp_billing_export_*, partitioned by
/// ingestion day: _PARTITIONTIME). Only of a table with such a name the query reads just the
/// partitions since the day before `from`, and rows that have no partition yet: a view or a copy
/// may have none. BigQuery documentation, "Query partitioned tables": _PARTITIONTIME is NULL in
/// rows of the write-optimized storage, where streamed rows are at first; whether Cloud Billing
/// streams its rows is not documented. A query that would read more than kMostBytesBilled is
/// kOutOfRange; one that still runs, kDeadlineExceeded.
class BillingApi final : public ports::BillingApi {
 public:
  /// `endpoint` is a base URL without a path: "https://bigquery.googleapis.com".
  BillingApi(std::unique_ptr<http::Transport> transport, std::string endpoint);
  /// The table must be one that IsBillingTable() accepts.
  base::Task<Result<ports::BillingAnswer>> Ask(ports::BillingQuestion question) override;

 private:
  base::Task<Result<base::Json>> Start(ports::BillingQuestion question);
  base::Task<Result<base::Json>> Poll(std::string path);

  std::unique_ptr<http::Transport> transport_;
  std::string endpoint_;
};

/// Whether it is "project.dataset.table" in letters, digits, "_" and "-" (and ":" and "." in a
/// project with a domain): a table's name cannot be a parameter of a query.
bool IsBillingTable(const std::string& table);

/// Composes transport, credentials and API: Google's for Google's cloud, and what the variable
/// JOBMAN_BIGQUERY_ENDPOINT names for any. Null for another cloud. Credentials and errors as of
/// MakeBuckets().
Result<std::unique_ptr<ports::BillingApi>> MakeBilling(asio::any_io_executor executor,
                                                       const core::CloudSpec& spec,
                                                       const auth::Env& env = base::GetEnv);

}  // namespace jobman::cloud
