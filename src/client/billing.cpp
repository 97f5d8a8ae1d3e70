#include "jobman/client/billing.hpp"

#include <utility>

#include "jobman/client/times.hpp"

namespace jobman::client {
namespace {

base::Task<base::Result<ports::BillingAnswer>> FetchBilling(Context context, BillingQuery query) {
  base::Error none{.code = base::Code::kUnimplemented, .message = "this cloud has no BigQuery"};
  if (!context.open_billing) co_return none;
  JM_CO_ASSIGN_OR_RETURN(const auto api,
                         context.open_billing(context.loop->get_executor(), query.cloud));
  if (!api) co_return none;
  const std::string table = query.question.table;
  const std::string runs_in = query.question.runs_in;
  auto answer = co_await api->Ask(std::move(query.question));
  if (answer.ok()) co_return answer;
  base::Error error = std::move(answer).error();
  const bool denied = error.code == base::Code::kPermissionDenied;
  if (denied && error.hint.empty()) {
    error.hint = "needed: roles/bigquery.jobUser in " + runs_in +
                 ", roles/bigquery.dataViewer on " + table +
                 ", and the API enabled: https://console.cloud.google.com/apis/library/"
                 "bigquery.googleapis.com?project=" +
                 runs_in;
  }
  if (error.code == base::Code::kNotFound && error.hint.empty())
    error.hint = "check JOBMAN_BILLING_TABLE or --table: project.dataset.table";
  co_return std::move(error).With(table);
}

}  // namespace

base::Task<base::Result<ports::BillingAnswer>> AskBilling(Context context, BillingQuery query) {
  std::string what = "BigQuery";
  auto fetching = FetchBilling(std::move(context), std::move(query));
  co_return co_await base::WithTimeout(std::move(fetching), kBillingAnswer, std::move(what));
}

base::TimePoint BeginOfDays(base::TimePoint now, int days) {
  return std::chrono::floor<std::chrono::days>(now) - std::chrono::days{days - 1};
}

}  // namespace jobman::client
