#include "client/kept_limits.hpp"

#include <optional>
#include <utility>

#include "client/no_answer.hpp"
#include "jobman/base/json.hpp"
#include "jobman/client/local_cloud.hpp"
#include "jobman/client/times.hpp"
#include "jobman/core/tpu_metric.hpp"

namespace jobman::client {
namespace {

using LimitList = std::vector<ports::TpuLimit>;
using LimitScope = ports::TpuLimit::Scope;

base::Json JsonOfLimit(const ports::TpuLimit& limit) {
  base::Json json = {{"metric", limit.metric}, {"scope", static_cast<int>(limit.scope)}};
  if (!limit.name.empty()) json["name"] = limit.name;
  if (!limit.location.empty()) json["location"] = limit.location;
  if (limit.limit) json["limit"] = *limit.limit;
  if (limit.unlimited) json["unlimited"] = true;
  if (!limit.locations.empty()) json["locations"] = limit.locations;
  return json;
}

/// Nothing for one that this program did not write.
std::optional<ports::TpuLimit> LimitInJson(const base::Json& json) {
  const base::Json& scope = base::GetMember(json, "scope");
  if (!scope.is_number_integer()) return std::nullopt;
  const auto number = scope.get<std::int64_t>();
  if (number < 0 || number > static_cast<int>(LimitScope::kZone)) return std::nullopt;
  ports::TpuLimit limit{.metric = base::GetString(json, "metric"),
                        .name = base::GetString(json, "name"),
                        .scope = static_cast<LimitScope>(number),
                        .location = base::GetString(json, "location")};
  if (json.contains("limit")) limit.limit = base::GetInt(json, "limit");
  limit.unlimited = base::GetBool(json, "unlimited");
  const base::Json& places = base::GetMember(json, "locations");
  for (std::size_t i = 0; places.is_array() && i < places.size(); ++i) {
    if (places[i].is_string()) limit.locations.push_back(places[i].get<std::string>());
  }
  return limit;
}

std::string TextOfLimits(const LimitList& limits) {
  base::Json list = base::Json::array();
  for (const ports::TpuLimit& limit : limits) list.push_back(JsonOfLimit(limit));
  return list.dump();
}

std::optional<LimitList> LimitsInText(const std::string& text) {
  const auto json = base::ParseJson(text);
  if (!json.ok() || !json->is_array()) return std::nullopt;
  LimitList limits;
  for (std::size_t i = 0; i < json->size(); ++i) {
    auto limit = LimitInJson((*json)[i]);
    if (!limit) return std::nullopt;
    limits.push_back(*std::move(limit));
  }
  return limits;
}

std::string KeyOfLimits(const LimitQuestion& question) {
  return "quota:" + question.cloud.endpoint + ":" + question.project + ":" + question.generation;
}

LimitList OfGeneration(const LimitList& all, const std::string& generation) {
  LimitList limits;
  for (const ports::TpuLimit& limit : all) {
    const auto counts = core::ReadTpuMetric(limit.metric);
    if (counts && counts->generation == generation) limits.push_back(limit);
  }
  return limits;
}

base::Task<std::optional<LimitList>> FindLimits(Context context, LimitQuestion question) {
  const auto kept = co_await context.stores.cache->Cached(KeyOfLimits(question));
  const bool fresh = kept.ok() && *kept && context.Now() - (*kept)->at < kOffersKept;
  if (!fresh) co_return std::nullopt;
  co_return LimitsInText((*kept)->value);
}

base::Task<base::Result<LimitList>> AskForLimits(std::shared_ptr<ports::QuotaApi> api,
                                                 std::string project) {
  co_return co_await api->TpuLimits(std::move(project));
}

}  // namespace

base::Task<base::Result<KeptLimits>> LimitsOf(Context context, std::shared_ptr<ports::QuotaApi> api,
                                              LimitQuestion question) {
  const auto kept = co_await FindLimits(context, question);
  KeptLimits found{.limits = kept.value_or(LimitList{}), .kept = kept.has_value()};
  if (found.kept && !question.anew) co_return found;
  auto asking = AskForLimits(std::move(api), question.project);
  std::string what = "Service Usage";
  const auto all = co_await base::WithTimeout(std::move(asking), question.within, std::move(what));
  if (!all.ok() && found.kept && DoesNotAnswer(all.error())) co_return found;
  if (!all.ok()) co_return all.error();
  found = {.limits = OfGeneration(*all, question.generation)};
  if (question.cloud.endpoint != kLocal && !found.limits.empty()) {
    ports::CachedFact fact{.value = TextOfLimits(found.limits), .at = context.Now()};
    std::string key = KeyOfLimits(question);
    // If it cannot be kept, the next command asks again.
    [[maybe_unused]] const auto put =
        co_await context.stores.cache->PutInCache(std::move(key), std::move(fact));
  }
  co_return found;
}

}  // namespace jobman::client
