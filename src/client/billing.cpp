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
  co_return co_await api->Ask(std::move(query.question));
}

/// What the user can do about it; empty if that is not known here.
std::string CureOfNoCosts(base::Code code, const ports::BillingQuestion& question) {
  switch (code) {
    case base::Code::kPermissionDenied:
      return "needed: roles/bigquery.jobUser in " + question.runs_in +
             ", roles/bigquery.dataViewer on " + question.table +
             ", and the API enabled: https://console.cloud.google.com/apis/library/"
             "bigquery.googleapis.com?project=" +
             question.runs_in;
    case base::Code::kNotFound:
      return "check JOBMAN_BILLING_TABLE or --table: project.dataset.table";
    case base::Code::kOutOfRange:
      return "name the exported table itself (gcp_billing_export_...), which is partitioned by "
             "day, or a partitioned table or a view that holds fewer days";
    case base::Code::kDeadlineExceeded:
      return "try again; if it goes on, check the network, and JOBMAN_BIGQUERY_ENDPOINT if it is "
             "set";
    default:
      return {};
  }
}

}  // namespace

base::Task<base::Result<ports::BillingAnswer>> AskBilling(Context context, BillingQuery query) {
  std::string what = "BigQuery";
  const ports::BillingQuestion question = query.question;
  auto fetching = FetchBilling(std::move(context), std::move(query));
  auto answer = co_await base::WithTimeout(std::move(fetching), kBillingAnswer, std::move(what));
  if (answer.ok() || answer.error().code == base::Code::kUnimplemented) co_return answer;
  base::Error error = std::move(answer).error();
  if (error.hint.empty()) error.hint = CureOfNoCosts(error.code, question);
  co_return std::move(error).With(question.table);
}

base::TimePoint BeginOfDays(base::TimePoint now, int days) {
  return std::chrono::floor<std::chrono::days>(now) - std::chrono::days{days - 1};
}

}  // namespace jobman::client
