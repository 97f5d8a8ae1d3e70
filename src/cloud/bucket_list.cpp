#include "jobman/cloud/bucket_list.hpp"

#include <cmath>
#include <limits>

#include "cloud/side_service.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/base/time.hpp"
#include "jobman/http/url.hpp"

namespace jobman::cloud {
namespace {

using base::Json;
using ports::BucketSeen;
using Sizes = std::map<std::string, std::int64_t>;

constexpr SideService kMonitoring = {.name = "Cloud Monitoring",
                                     .google = "https://monitoring.googleapis.com",
                                     .variable = "JOBMAN_MONITORING_ENDPOINT"};
constexpr base::Duration kBucketsLimit = std::chrono::seconds{15};
/// Of 1000 buckets each, as the service has them at most.
constexpr int kMostBucketPages = 20;
constexpr const char* kBucketFields =
    "name,location,locationType,storageClass,customPlacementConfig";
/// The last measurement may be a day old, and be shown hours later.
constexpr std::chrono::hours kSizesSince{48};

std::string WithoutSlash(std::string endpoint) {
  while (endpoint.ends_with('/')) endpoint.pop_back();
  return endpoint;
}

BucketSeen BucketIn(const Json& json) {
  BucketSeen bucket{.name = base::GetString(json, "name"),
                    .location = {.name = base::ToLower(base::GetString(json, "location"))},
                    .location_type = base::GetString(json, "locationType"),
                    .storage_class = base::GetString(json, "storageClass")};
  const Json& placement = base::GetMember(json, "customPlacementConfig");
  const Json& regions = base::GetMember(placement, "dataLocations");
  for (std::size_t i = 0; regions.is_array() && i < regions.size(); ++i) {
    const auto* const region = regions[i].get_ptr<const std::string*>();
    if (region != nullptr) bucket.location.regions.push_back(base::ToLower(*region));
  }
  return bucket;
}

/// The bytes of one point; it is a double, or an int64 as a string. Nothing for another value.
std::optional<std::int64_t> BytesIn(const Json& point) {
  const Json& value = base::GetMember(point, "value");
  const Json& number = base::GetMember(value, "doubleValue");
  constexpr double kMost = 9e18;  // fits into an int64
  if (number.is_number()) {
    const double bytes = number.get<double>();
    return bytes >= 0 && bytes < kMost ? std::optional(std::llround(bytes)) : std::nullopt;
  }
  return base::ParseNumber(base::GetString(value, "int64Value"));
}

/// What a bucket held at the newest time that was measured.
struct Measured {
  base::TimePoint at = {};
  std::int64_t bytes = 0;
};
using Measures = std::map<std::string, Measured>;

base::TimePoint TimeOf(const Json& point) {
  const auto time =
      base::ParseRfc3339(base::GetString(base::GetMember(point, "interval"), "endTime"));
  return time.ok() ? *time : base::TimePoint{};
}

/// Adds the newest point of a series, one for each storage class of a bucket. A class that the
/// bucket has no longer ended at an earlier time: its objects are in another one now, or gone.
void AddSeries(const Json& series, Measures& measures) {
  const Json& resource = base::GetMember(series, "resource");
  const std::string bucket = base::GetString(base::GetMember(resource, "labels"), "bucket_name");
  const Json& points = base::GetMember(series, "points");
  if (bucket.empty() || !points.is_array() || points.empty()) return;
  const auto bytes = BytesIn(points[0]);  // the newest comes first
  if (!bytes) return;
  const Measured newest{.at = TimeOf(points[0])};
  Measured& measured = measures.try_emplace(bucket, newest).first->second;
  if (newest.at < measured.at) return;
  if (newest.at > measured.at) measured = newest;
  std::int64_t& sum = measured.bytes;
  const bool fits = *bytes <= std::numeric_limits<std::int64_t>::max() - sum;
  sum = fits ? sum + *bytes : std::numeric_limits<std::int64_t>::max();
}

Sizes SizesIn(const Measures& measures) {
  Sizes sizes;
  for (const auto& [bucket, measured] : measures) sizes[bucket] = measured.bytes;
  return sizes;
}

std::string SizesQuery(base::TimePoint now) {
  const std::string filter = R"(metric.type="storage.googleapis.com/storage/total_bytes")";
  const auto time = [](base::TimePoint at) { return http::PercentEncode(base::FormatRfc3339(at)); };
  return "?filter=" + http::PercentEncode(filter) +
         "&interval.startTime=" + time(now - kSizesSince) + "&interval.endTime=" + time(now) +
         "&aggregation.alignmentPeriod=86400s&aggregation.perSeriesAligner=ALIGN_NEXT_OLDER"
         "&view=FULL";
}

std::string AndPage(const std::string& page) {
  return page.empty() ? "" : "&pageToken=" + http::PercentEncode(page);
}

}  // namespace

BucketList::BucketList(std::unique_ptr<http::Transport> transport, std::string endpoint)
    : transport_(std::move(transport)), endpoint_(WithoutSlash(std::move(endpoint))) {}

base::Task<Result<std::vector<BucketSeen>>> BucketList::OfProject(std::string project) {
  std::vector<BucketSeen> buckets;
  std::string page;
  for (int i = 0; i < kMostBucketPages; ++i) {
    const std::string query = "?project=" + http::PercentEncode(project) +
                              "&maxResults=1000&fields=nextPageToken,items(" + kBucketFields + ")";
    http::Request request{.url = endpoint_ + "/storage/v1/b" + query + AndPage(page),
                          .timeout = kBucketsLimit};
    JM_CO_ASSIGN_OR_RETURN(
        const Json body,
        co_await AskService(transport_.get(), &kStorage, std::move(request), "GET /storage/v1/b"));
    const Json& items = base::GetMember(body, "items");
    for (std::size_t k = 0; items.is_array() && k < items.size(); ++k) {
      BucketSeen bucket = BucketIn(items[k]);
      if (!bucket.name.empty()) buckets.push_back(std::move(bucket));
    }
    page = base::GetString(body, "nextPageToken");
    if (page.empty()) co_return buckets;
  }
  co_return NotItsAnswer(kStorage, "its pages do not end");
}

base::Task<Result<BucketSeen>> BucketList::One(std::string bucket) {
  const std::string path = "/storage/v1/b/" + http::PercentEncode(bucket);
  http::Request request{.url = endpoint_ + path + "?fields=" + kBucketFields,
                        .timeout = kBucketsLimit};
  JM_CO_ASSIGN_OR_RETURN(const Json body, co_await AskService(transport_.get(), &kStorage,
                                                              std::move(request), "GET " + path));
  BucketSeen seen = BucketIn(body);
  if (seen.name.empty()) co_return NotItsAnswer(kStorage, "it has no name").With("GET " + path);
  co_return seen;
}

BucketSizes::BucketSizes(std::unique_ptr<http::Transport> transport, std::string endpoint)
    : transport_(std::move(transport)), endpoint_(WithoutSlash(std::move(endpoint))) {}

base::Task<Result<Sizes>> BucketSizes::OfProject(std::string project, base::TimePoint now) {
  const std::string path = "/v3/projects/" + http::PercentEncode(project) + "/timeSeries";
  Measures measures;
  std::string page;
  for (int i = 0; i < kMostBucketPages; ++i) {
    http::Request request{.url = endpoint_ + path + SizesQuery(now) + AndPage(page),
                          .timeout = kBucketsLimit};
    JM_CO_ASSIGN_OR_RETURN(const Json body, co_await AskService(transport_.get(), &kMonitoring,
                                                                std::move(request), "GET " + path));
    const Json& list = base::GetMember(body, "timeSeries");
    for (std::size_t k = 0; list.is_array() && k < list.size(); ++k) AddSeries(list[k], measures);
    page = base::GetString(body, "nextPageToken");
    if (page.empty()) co_return SizesIn(measures);
  }
  co_return NotItsAnswer(kMonitoring, "its pages do not end");
}

Result<std::unique_ptr<ports::BucketList>> MakeBucketList(asio::any_io_executor executor,
                                                          const core::CloudSpec& spec,
                                                          const auth::Env& env) {
  JM_ASSIGN_OR_RETURN(const std::string endpoint, EndpointOf(kStorage, spec, env));
  if (endpoint.empty()) return std::unique_ptr<ports::BucketList>();
  JM_ASSIGN_OR_RETURN(auto wire, TransportTo(std::move(executor), spec, endpoint, env));
  return std::make_unique<BucketList>(std::move(wire), endpoint);
}

Result<std::unique_ptr<ports::BucketSizes>> MakeBucketSizes(asio::any_io_executor executor,
                                                            const core::CloudSpec& spec,
                                                            const auth::Env& env) {
  JM_ASSIGN_OR_RETURN(const std::string endpoint, EndpointOf(kMonitoring, spec, env));
  if (endpoint.empty()) return std::unique_ptr<ports::BucketSizes>();
  JM_ASSIGN_OR_RETURN(auto wire, TransportTo(std::move(executor), spec, endpoint, env));
  return std::make_unique<BucketSizes>(std::move(wire), endpoint);
}

}  // namespace jobman::cloud
