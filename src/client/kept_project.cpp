#include "client/kept_project.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "jobman/base/json.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/client/times.hpp"
#include "jobman/core/accelerators.hpp"
#include "jobman/core/regions.hpp"

namespace jobman::client {
namespace {

/// These credentials may not see it: asking again does not help.
bool IsHidden(const base::Error& error) {
  return error.code == base::Code::kPermissionDenied || error.code == base::Code::kNotFound;
}

std::optional<ports::RegionQuota> AddressQuota(const std::vector<ports::RegionQuota>& quotas) {
  for (const ports::RegionQuota& quota : quotas) {
    if (quota.metric == "IN_USE_ADDRESSES" && quota.limit >= 0) return quota;
  }
  return std::nullopt;
}

std::string TextOfView(const ProjectView& view) {
  base::Json json = {{"os_login", view.os_login}};
  if (view.addresses) {
    json["limit"] = view.addresses->limit;
    json["usage"] = view.addresses->usage;
  }
  return json.dump();
}

std::optional<ProjectView> ViewInText(const std::string& text) {
  const auto json = base::ParseJson(text);
  if (!json.ok() || !json->is_object()) return std::nullopt;
  ProjectView view{.os_login = base::GetBool(*json, "os_login")};
  const base::Json& limit = base::GetMember(*json, "limit");
  const base::Json& usage = base::GetMember(*json, "usage");
  if (limit.is_number() && usage.is_number()) {
    view.addresses = ports::RegionQuota{
        .metric = "IN_USE_ADDRESSES", .limit = limit.get<double>(), .usage = usage.get<double>()};
  }
  return view;
}

/// In the store's cache.
std::string KeyOf(const core::JobSpec& spec) {
  return "project:" + spec.cloud.endpoint + ":" + spec.tpu.project + ":" +
         core::RegionOf(spec.tpu.zone);
}

base::Duration KeptFor(const ProjectView& view, const core::TpuSpec& tpu) {
  const int needed = AddressesFor(tpu);
  const bool has_room =
      !view.addresses || needed == 0 || view.addresses->limit - view.addresses->usage >= needed;
  return has_room ? kProjectKept : kDoubtKept;
}

base::Task<base::Result<ProjectView>> FetchView(std::shared_ptr<ports::ProjectApi> api,
                                                std::string project, std::string region) {
  using namespace asio::experimental::awaitable_operators;
  auto asked_metadata = api->Metadata(project);
  auto asked_quotas = api->Quotas(project, region);
  const auto both = co_await (std::move(asked_metadata) && std::move(asked_quotas));
  const auto& metadata = std::get<0>(both);
  const auto& quotas = std::get<1>(both);
  if (!metadata.ok() && !IsHidden(metadata.error())) co_return metadata.error();
  if (!quotas.ok() && !IsHidden(quotas.error())) co_return quotas.error();
  ProjectView view;
  view.os_login = metadata.ok() && IsTrueIn(*metadata, kEnableOsLogin);
  if (quotas.ok()) view.addresses = AddressQuota(*quotas);
  co_return view;
}

}  // namespace

int HostsFor(const core::TpuSpec& tpu) {
  const auto type = core::FindAccelerator(tpu.accelerator);
  return type.ok() ? type->hosts * std::max(tpu.num_slices, 1) : 0;
}

int AddressesFor(const core::TpuSpec& tpu) {
  return tpu.external_ips ? HostsFor(tpu) : 0;
}

base::Task<std::optional<ProjectView>> KeptView(Context context, core::JobSpec spec) {
  const auto kept = co_await context.stores.cache->Cached(KeyOf(spec));
  if (!kept.ok() || !*kept) co_return std::nullopt;
  const auto view = ViewInText((*kept)->value);
  const bool fresh = view && context.Now() - (*kept)->at < KeptFor(*view, spec.tpu);
  co_return fresh ? view : std::nullopt;
}

base::Task<base::Result<ProjectView>> LookAtProject(Context context,
                                                    std::shared_ptr<ports::ProjectApi> api,
                                                    core::JobSpec spec) {
  const auto kept = co_await KeptView(context, spec);
  if (kept) co_return *kept;
  auto asked = FetchView(std::move(api), spec.tpu.project, core::RegionOf(spec.tpu.zone));
  std::string what = "Compute Engine";
  JM_CO_ASSIGN_OR_RETURN(
      const ProjectView view,
      co_await base::WithTimeout(std::move(asked), kProjectAnswer, std::move(what)));
  ports::CachedFact fact{.value = TextOfView(view), .at = context.Now()};
  // If it cannot be kept, the next command asks again.
  [[maybe_unused]] const auto put =
      co_await context.stores.cache->PutInCache(KeyOf(spec), std::move(fact));
  co_return view;
}

}  // namespace jobman::client
