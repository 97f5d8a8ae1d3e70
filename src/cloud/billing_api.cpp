#include "jobman/cloud/billing_api.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

#include "cloud/side_service.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/base/time.hpp"
#include "jobman/http/url.hpp"

namespace jobman::cloud {
namespace {

using base::Json;
using ports::BilledDay;
using ports::BillingAnswer;
using ports::BillingQuestion;

constexpr SideService kBigQuery = {.name = "BigQuery",
                                   .google = "https://bigquery.googleapis.com",
                                   .variable = "JOBMAN_BIGQUERY_ENDPOINT"};
/// BigQuery answers after kQueryWait at the latest, with or without a result.
constexpr int kQueryWaitMs = 10'000;
constexpr base::Duration kQueryLimit = std::chrono::seconds{20};
/// With the first answer 50 s: less than client::kBillingAnswer, so that this says why.
constexpr int kMostPolls = 4;
constexpr int kMostBilledRows = 10'000;

std::string NameOf(BillingQuestion::By by) {
  switch (by) {
    case BillingQuestion::By::kSku:
      return "sku.description";
    case BillingQuestion::By::kService:
      return "service.description";
    case BillingQuestion::By::kDay:
      return "''";
  }
  return "''";
}

/// Google's own table has a partition for each day on which rows came in. They come after the use
/// that they are about, so that older partitions need not be read. Rows that were streamed in have
/// no partition until BigQuery stores them. Another table, or a view, may have no such column.
std::string PartitionsOf(const std::string& table) {
  const std::string name = table.substr(table.rfind('.') + 1);
  if (!name.starts_with("gcp_billing_export_")) return {};
  return " AND (_PARTITIONTIME >= TIMESTAMP_SUB(@from, INTERVAL 1 DAY) OR _PARTITIONTIME IS NULL)";
}

std::string QueryText(const BillingQuestion& question) {
  const std::string project = question.project.empty() ? "" : " AND project.id = @project";
  return "SELECT FORMAT_DATE('%F', DATE(usage_start_time)) AS day, " + NameOf(question.by) +
         " AS what, SUM(cost + IFNULL((SELECT SUM(credit.amount) FROM UNNEST(credits) AS credit), "
         "0)) AS cost, currency FROM `" +
         question.table + "` WHERE usage_start_time >= @from" + PartitionsOf(question.table) +
         project + " GROUP BY day, what, currency ORDER BY day, cost DESC";
}

Json Parameter(const std::string& name, const std::string& type, const std::string& value) {
  return {
      {"name", name}, {"parameterType", {{"type", type}}}, {"parameterValue", {{"value", value}}}};
}

Json QueryBody(const BillingQuestion& question) {
  Json parameters = Json::array();
  parameters.push_back(Parameter("from", "TIMESTAMP", base::FormatRfc3339(question.from)));
  if (!question.project.empty())
    parameters.push_back(Parameter("project", "STRING", question.project));
  return {{"query", QueryText(question)},
          {"useLegacySql", false},
          {"parameterMode", "NAMED"},
          {"queryParameters", std::move(parameters)},
          {"maximumBytesBilled", std::to_string(kMostBytesBilled)},
          {"timeoutMs", kQueryWaitMs},
          {"maxResults", kMostBilledRows}};
}

/// The text of a column; a value is a string, or null.
std::string ColumnOf(const Json& row, std::size_t column) {
  const Json& fields = base::GetMember(row, "f");
  if (!fields.is_array() || column >= fields.size()) return {};
  return base::GetString(fields[column], "v");
}

Result<BilledDay> BilledDayIn(const Json& row) {
  BilledDay day{.day = ColumnOf(row, 0), .what = ColumnOf(row, 1), .currency = ColumnOf(row, 3)};
  const std::string cost = ColumnOf(row, 2);
  const auto [end, problem] = std::from_chars(cost.data(), cost.data() + cost.size(), day.cost);
  const bool number = problem == std::errc() && end == cost.data() + cost.size();
  // "NaN" and "Infinity" are numbers for BigQuery, and no cost.
  if (!number || !std::isfinite(day.cost) || day.day.empty())
    return NotItsAnswer(kBigQuery, "a row is not one of billing");
  return day;
}

Result<BillingAnswer> AnswerIn(const Json& body) {
  BillingAnswer answer;
  const Json& rows = base::GetMember(body, "rows");
  for (std::size_t i = 0; rows.is_array() && i < rows.size(); ++i) {
    JM_ASSIGN_OR_RETURN(BilledDay day, BilledDayIn(rows[i]));
    answer.rows.push_back(std::move(day));
  }
  answer.more = base::GetInt(body, "totalRows") > static_cast<std::int64_t>(answer.rows.size());
  return answer;
}

/// Where the results of a query that still runs can be had; empty if the answer does not say.
std::string PathOfResults(const Json& body) {
  const Json& job = base::GetMember(body, "jobReference");
  const std::string id = base::GetString(job, "jobId");
  const std::string project = base::GetString(job, "projectId");
  if (id.empty() || project.empty()) return {};
  const std::string location = base::GetString(job, "location");
  return "/bigquery/v2/projects/" + http::PercentEncode(project) + "/queries/" +
         http::PercentEncode(id) + "?timeoutMs=" + std::to_string(kQueryWaitMs) +
         "&maxResults=" + std::to_string(kMostBilledRows) +
         (location.empty() ? "" : "&location=" + http::PercentEncode(location));
}

bool IsWord(const std::string& text, std::string_view more) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [more](unsigned char c) {
    return std::isalnum(c) != 0 || more.find(static_cast<char>(c)) != std::string_view::npos;
  });
}

}  // namespace

bool IsBillingTable(const std::string& table) {
  const std::size_t last = table.rfind('.');
  if (last == std::string::npos || last == 0) return false;
  const std::size_t middle = table.rfind('.', last - 1);
  if (middle == std::string::npos) return false;
  return IsWord(table.substr(0, middle), "-:.") &&
         IsWord(table.substr(middle + 1, last - middle - 1), "_") &&
         IsWord(table.substr(last + 1), "_-");
}

BillingApi::BillingApi(std::unique_ptr<http::Transport> transport, std::string endpoint)
    : transport_(std::move(transport)), endpoint_(std::move(endpoint)) {
  while (endpoint_.ends_with('/')) endpoint_.pop_back();
}

base::Task<Result<Json>> BillingApi::Start(BillingQuestion question) {
  const std::string path =
      "/bigquery/v2/projects/" + http::PercentEncode(question.runs_in) + "/queries";
  http::Request request{.method = "POST", .url = endpoint_ + path, .timeout = kQueryLimit};
  request.headers = {{"Content-Type", "application/json"}};
  request.body = QueryBody(question).dump();
  co_return co_await AskService(transport_.get(), &kBigQuery, std::move(request), "POST " + path);
}

base::Task<Result<Json>> BillingApi::Poll(std::string path) {
  http::Request request{.url = endpoint_ + path, .timeout = kQueryLimit};
  const std::string doing = "GET " + path.substr(0, path.find('?'));
  co_return co_await AskService(transport_.get(), &kBigQuery, std::move(request), doing);
}

base::Task<Result<BillingAnswer>> BillingApi::Ask(BillingQuestion question) {
  if (!IsBillingTable(question.table)) {
    co_return base::InvalidArgument("\"" + question.table + "\" is not a table of BigQuery",
                                    "write it as project.dataset.table");
  }
  JM_CO_ASSIGN_OR_RETURN(Json body, co_await Start(question));
  const std::string path = PathOfResults(body);
  for (int i = 0; !base::GetBool(body, "jobComplete"); ++i) {
    if (path.empty()) co_return NotItsAnswer(kBigQuery, "it names no job");
    if (i == kMostPolls) {
      base::Error late{.code = base::Code::kDeadlineExceeded,
                       .message = "the query still runs",
                       .hint = "ask for fewer days (--days), or --by day"};
      co_return late;
    }
    JM_CO_ASSIGN_OR_RETURN(body, co_await Poll(path));
  }
  co_return AnswerIn(body);
}

Result<std::unique_ptr<ports::BillingApi>> MakeBilling(asio::any_io_executor executor,
                                                       const core::CloudSpec& spec,
                                                       const auth::Env& env) {
  JM_ASSIGN_OR_RETURN(const std::string endpoint, EndpointOf(kBigQuery, spec, env));
  if (endpoint.empty()) return std::unique_ptr<ports::BillingApi>();
  JM_ASSIGN_OR_RETURN(auto wire, TransportTo(std::move(executor), spec, endpoint, env));
  return std::make_unique<BillingApi>(std::move(wire), endpoint);
}

}  // namespace jobman::cloud
