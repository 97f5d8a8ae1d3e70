#include <fmt/format.h>

#include "jobman/base/strings.hpp"
#include "sim/cloud/catalogue.hpp"
#include "sim/service/tpu_service.hpp"

// The part of the Service Usage API that says what a project may hold of Cloud TPU. Source: its
// reference, services.consumerQuotaMetrics.list of v1beta1; names of metrics: Cloud TPU
// documentation, page "Quotas".

namespace jobman::sim {
namespace {

constexpr std::string_view kUsageBegin = "/v1beta1/projects/";
constexpr std::string_view kUsageEnd = "/services/tpu.googleapis.com/consumerQuotaMetrics";

struct MetricName {
  const char* generation;
  const char* metric;
};
/// Here, a generation has one limit for all sizes; the service has two for some.
constexpr MetricName kMetrics[] = {{"v2", "tpu-v2"},
                                   {"v2", "tpu-v2-pod"},
                                   {"v3", "tpu-v3"},
                                   {"v3", "tpu-v3-pod"},
                                   {"v4", "tpu-v4s"},
                                   {"v5litepod", "tpu-v5s-litepod"},
                                   {"v5litepod", "tpu-v5s-litepod-serving"},
                                   {"v5p", "tpu-v5p"},
                                   {"v6e", "tpu-v6e"}};

Json Bucket(std::int64_t limit, const std::string& zone) {
  const std::string text = std::to_string(limit);
  Json bucket = {{"effectiveLimit", text}, {"defaultLimit", text}};
  if (!zone.empty()) bucket["dimensions"] = {{"zone", zone}};
  return bucket;
}

/// The limit that is set for "ZONE/FAMILY", or for all zones as "*/FAMILY".
Json Buckets(const Settings& settings, const std::string& family) {
  const auto general = settings.quota.find("*/" + family);
  Json buckets = Json::array();
  buckets.push_back(Bucket(general == settings.quota.end() ? -1 : general->second, {}));
  for (const std::string& zone : Zones()) {
    const auto own = settings.quota.find(zone + "/" + family);
    if (own != settings.quota.end()) buckets.push_back(Bucket(own->second, zone));
  }
  return buckets;
}

Json MetricBody(const Settings& settings, const std::string& parent, const MetricName& name,
                bool spot) {
  const std::string metric =
      std::string("tpu.googleapis.com/") + name.metric + (spot ? "-preemptible" : "");
  const std::string family = std::string(name.generation) + (spot ? "-spot" : "");
  const std::string path = parent + "/consumerQuotaMetrics/" + base::ReplaceAll(metric, "/", "%2F");
  const Json limit = {{"name", path + "/limits/%2Fproject%2Fzone"},
                      {"metric", metric},
                      {"unit", "1/{project}/{zone}"},
                      {"isPrecise", true},
                      {"quotaBuckets", Buckets(settings, family)},
                      {"supportedLocations", Zones()}};
  return {{"name", path},
          {"metric", metric},
          {"displayName", fmt::format("{}TPU {} cores", spot ? "Preemptible " : "", family)},
          {"unit", "1"},
          {"consumerQuotaLimits", Json::array({limit})}};
}

}  // namespace

bool TpuService::IsQuotaPath(const std::string& path) {
  return path.starts_with(kUsageBegin) && path.ends_with(kUsageEnd) &&
         path.size() > kUsageBegin.size() + kUsageEnd.size();
}

Reply TpuService::QuotaMetrics(const Request& request, std::string& method) const {
  method = "serviceusage.consumerQuotaMetrics.list";
  const std::string path = request.path;
  const std::size_t length = path.size() - kUsageBegin.size() - kUsageEnd.size();
  const std::string project = path.substr(kUsageBegin.size(), length);
  const std::string parent = "projects/" + ProjectNumber(project) + "/services/tpu.googleapis.com";
  Json metrics = Json::array();
  for (const MetricName& name : kMetrics) {
    for (const bool spot : {false, true})
      metrics.push_back(MetricBody(settings_, parent, name, spot));
  }
  return {.body = {{"metrics", std::move(metrics)}}};
}

}  // namespace jobman::sim
