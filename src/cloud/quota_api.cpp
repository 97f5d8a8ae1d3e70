#include "jobman/cloud/quota_api.hpp"

#include "cloud/side_service.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/http/url.hpp"

namespace jobman::cloud {
namespace {

using base::Json;
using ports::TpuLimit;
using Limits = std::vector<TpuLimit>;

constexpr SideService kServiceUsage = {.name = "Service Usage",
                                       .google = "https://serviceusage.googleapis.com",
                                       .variable = "JOBMAN_QUOTA_ENDPOINT"};
constexpr base::Duration kQuotaLimit = std::chrono::seconds{15};
/// Cloud TPU has some dozens of metrics, and a page 100 of them.
constexpr int kMostQuotaPages = 20;

/// "1/{project}/{zone}". Nothing for a rate, which has a time: "1/min/{project}".
std::optional<TpuLimit::Scope> ScopeOf(const std::string& unit) {
  if (!unit.starts_with("1/{project}")) return std::nullopt;
  if (base::Contains(unit, "{zone}")) return TpuLimit::Scope::kZone;
  const bool region = base::Contains(unit, "{region}");
  return region ? TpuLimit::Scope::kRegion : TpuLimit::Scope::kProject;
}

/// An int64, as a string or a number; nothing if it is absent.
std::optional<std::int64_t> NumberOf(const Json& object, const char* key) {
  const Json& value = base::GetMember(object, key);
  if (const auto* const text = value.get_ptr<const std::string*>()) {
    const bool negative = text->starts_with('-');
    auto number = base::ParseNumber(text->substr(negative ? 1 : 0));
    if (number && negative) number = -*number;
    return number;
  }
  if (value.is_number_integer()) return value.get<std::int64_t>();
  return std::nullopt;
}

std::vector<std::string> WordsIn(const Json& list) {
  std::vector<std::string> words;
  for (std::size_t i = 0; list.is_array() && i < list.size(); ++i) {
    const auto* const word = list[i].get_ptr<const std::string*>();
    if (word != nullptr) words.push_back(*word);
  }
  return words;
}

/// The place that a bucket is for; empty for the general one.
std::string PlaceOf(const Json& bucket) {
  const Json& dimensions = base::GetMember(bucket, "dimensions");
  const std::string zone = base::GetString(dimensions, "zone");
  return zone.empty() ? base::GetString(dimensions, "region") : zone;
}

/// A bucket may have a dimension that is none of place, and that is not known here.
bool HasOtherDimension(const Json& bucket) {
  const Json& dimensions = base::GetMember(bucket, "dimensions");
  return dimensions.is_object() && !dimensions.empty() && PlaceOf(bucket).empty();
}

void AddBuckets(const Json& limit, const TpuLimit& common, Limits& limits) {
  const Json& buckets = base::GetMember(limit, "quotaBuckets");
  for (std::size_t i = 0; buckets.is_array() && i < buckets.size(); ++i) {
    if (HasOtherDimension(buckets[i])) continue;
    TpuLimit one = common;
    one.location = PlaceOf(buckets[i]);
    const auto number = NumberOf(buckets[i], "effectiveLimit");
    one.unlimited = number && *number < 0;
    if (!one.unlimited) one.limit = number;
    if (one.location.empty()) one.locations = WordsIn(base::GetMember(limit, "supportedLocations"));
    limits.push_back(std::move(one));
  }
}

void AddMetric(const Json& metric, Limits& limits) {
  const TpuLimit named{.metric = base::GetString(metric, "metric"),
                       .name = base::GetString(metric, "displayName")};
  const Json& list = base::GetMember(metric, "consumerQuotaLimits");
  for (std::size_t i = 0; list.is_array() && i < list.size(); ++i) {
    const auto scope = ScopeOf(base::GetString(list[i], "unit"));
    if (!scope || named.metric.empty()) continue;
    TpuLimit common = named;
    common.scope = *scope;
    AddBuckets(list[i], common, limits);
  }
}

}  // namespace

QuotaApi::QuotaApi(std::unique_ptr<http::Transport> transport, std::string endpoint)
    : transport_(std::move(transport)), endpoint_(std::move(endpoint)) {
  while (endpoint_.ends_with('/')) endpoint_.pop_back();
}

base::Task<Result<Json>> QuotaApi::Ask(std::string project, std::string page) {
  const std::string path = "/v1beta1/projects/" + http::PercentEncode(project) +
                           "/services/tpu.googleapis.com/consumerQuotaMetrics";
  std::string query = "?view=BASIC&pageSize=100";
  if (!page.empty()) query += "&pageToken=" + http::PercentEncode(page);
  http::Request request{.url = endpoint_ + path + query, .timeout = kQuotaLimit};
  co_return co_await AskService(transport_.get(), &kServiceUsage, std::move(request),
                                "GET " + path);
}

base::Task<Result<Limits>> QuotaApi::TpuLimits(std::string project) {
  Limits limits;
  std::string page;
  for (int i = 0; i < kMostQuotaPages; ++i) {
    JM_CO_ASSIGN_OR_RETURN(const Json body, co_await Ask(project, page));
    const Json& metrics = base::GetMember(body, "metrics");
    if (!metrics.is_null() && !metrics.is_array()) {
      co_return NotItsAnswer(kServiceUsage, "'metrics' is not a list");
    }
    for (std::size_t k = 0; k < metrics.size(); ++k) AddMetric(metrics[k], limits);
    page = base::GetString(body, "nextPageToken");
    if (page.empty()) co_return limits;
  }
  co_return NotItsAnswer(kServiceUsage, "its pages do not end");
}

Result<std::unique_ptr<ports::QuotaApi>> MakeQuotas(asio::any_io_executor executor,
                                                    const core::CloudSpec& spec,
                                                    const auth::Env& env) {
  JM_ASSIGN_OR_RETURN(const std::string endpoint, EndpointOf(kServiceUsage, spec, env));
  if (endpoint.empty()) return std::unique_ptr<ports::QuotaApi>();
  JM_ASSIGN_OR_RETURN(auto wire, TransportTo(std::move(executor), spec, endpoint, env));
  return std::make_unique<QuotaApi>(std::move(wire), endpoint);
}

}  // namespace jobman::cloud
